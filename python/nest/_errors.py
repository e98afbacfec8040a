"""What goes wrong: bad input is one sentence with its place and a hint; an answer without a plan says why."""

from __future__ import annotations


class InputError(ValueError):
    """Something of the input is wrong.

    Its text is one sentence, the same as the command's.

    Examples:
        >>> import nest
        >>> try:
        ...     nest.Question(model="llama3.1-8b", tensr=8)
        ... except nest.InputError as error:
        ...     print(error)
        ...     print(error.place, "|", error.what, "|", error.hint)
        tensr: there is no such field; did you mean 'tensor'?
        tensr | there is no such field | did you mean 'tensor'?
    """

    file: str
    """The file that is wrong, as it was named; empty where it is no file."""
    place: str
    """The line and key in the file, or the keyword of the call."""
    what: str
    """What is wrong."""
    hint: str
    """What was probably meant, or what would help; may be empty."""

    def __init__(
        self, sentence: str, file: str = "", place: str = "", what: str = "", hint: str = ""
    ) -> None:
        super().__init__(sentence, file, place, what, hint)
        self.file = file
        self.place = place
        self.what = what or sentence
        self.hint = hint

    def __str__(self) -> str:
        return str(self.args[0])


class NoPlan(LookupError):
    """The plan of an answer that has none: nothing fits, or a limit came first.

    Its text is the reason; `Answer.advice` says what would make a plan fit.
    """
