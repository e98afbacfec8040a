// What can be taken away: the plan, its report, and launch files. On narrow screens the buttons are behind one.
import { exportOf, reportOf } from './api';
import type { FullPlan, Target } from './api';
import { at, download, el, pushButton } from './dom';
import { tar } from './tar';
import { targetMenu } from './targets';

export class Exports {
  readonly nodes: HTMLElement[];
  private readonly box: HTMLElement;

  constructor(targets: Target[], private readonly plan: () => FullPlan, private readonly failed: (error: unknown) => void) {
    this.box = el('span', { class: 'exports', id: 'exports' },
      pushButton('plan.json', 'download the plan, for nest evaluate, simulate and report', () => this.savePlan()),
      pushButton('report.html', 'download the report: one file that works without this server', () => void this.saveReport()),
      targetMenu(targets, (to, title) => void this.saveLaunch(to, title)));
    const unfold = pushButton('Export', 'plan, report and launch files', () => {
      const open = this.box.classList.toggle('open');
      unfold.setAttribute('aria-expanded', `${open}`);
    });
    unfold.classList.add('unfold');
    unfold.setAttribute('aria-expanded', 'false');
    unfold.setAttribute('aria-controls', 'exports');
    this.nodes = [unfold, this.box];
  }

  // Without a plan that answers the question there is nothing to take away.
  enable(ready: boolean): void {
    for (const part of this.box.querySelectorAll('select, button')) part.toggleAttribute('disabled', !ready);
  }

  private savePlan(): void {
    download('plan.json', new Blob([`${JSON.stringify(this.plan(), null, 2)}\n`], { type: 'application/json' }));
  }

  private async saveReport(): Promise<void> {
    try {
      download('report.html', await reportOf(this.plan()));
    } catch (error) {
      this.failed(error);
    }
  }

  private async saveLaunch(to: string, title: string): Promise<void> {
    try {
      const { files, lost } = await exportOf(this.plan(), to);
      download(`${to}-launch.tar`, new Blob([tar(`${to}-launch`, files)], { type: 'application/x-tar' }));
      at('working').textContent = lost?.length ? `lost in translation to ${title}: ${lost.join('; ')}` : '';
    } catch (error) {
      this.failed(error);
    }
  }
}
