// Another plan of the question, shown in full in place of the one that is taken: a row of the table of alternatives.
import { otherName } from '@views/panels.js';
import type { OtherPlan, ReportData } from '@views/views.js';
import type { Answer, FullPlan } from './api';
import { el } from './dom';

export interface OtherShown {
  which: number; // row of views.alternatives
  answer: Answer;
}

// The strict optimum has the proof of the answer; nothing is proved of the others.
export function showOther(answer: Answer, which: number, plan: FullPlan, views: ReportData): OtherShown {
  const strict = answer.views?.alternatives[which]?.strict === true;
  return { which, answer: strict ? { ...plan, status: answer.status, views }
    : { ...plan, status: 'alternative', views: { ...views, proof: '', simpler: '' } } };
}

export function headingOf(others: readonly OtherPlan[], which: number): string {
  return others[which]?.strict ? 'The best' : `Number ${otherName(others, which)}`;
}

export function noteOf(others: readonly OtherPlan[], which: number, back: HTMLElement): HTMLElement {
  return el('p', { class: 'note' }, others[which]?.strict
    ? 'This plan has the shortest step; the one that is taken is simpler and takes hardly longer. '
    : 'This is not the plan that is taken, but one of those that come next. ', back);
}

// As a file: what only this page needs is left out.
export function planFile(answer: Answer): FullPlan {
  const { views: _, alternatives: __, ...plan } = answer;
  return plan.status === 'alternative' ? { ...plan, status: 'feasible' } as FullPlan : plan;
}
