// The page in a real browser: files of other programs, chosen with the button or dropped on the page.
import { join } from 'node:path';
import { planned } from './browser.mjs';
import { check } from './helpers.mjs';

const kTopology = 'SwitchName=a Nodes=n[1-4]\nSwitchName=b Nodes=n[5-8]\nSwitchName=s Switches=a,b\n';
const kNodes = 'NodeName=n[1-7] Gres=gpu:h100:8 State=IDLE\nNodeName=n8 Gres=gpu:h100:8 State=DRAINED\n';

const asFile = (name, text) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });

export const fileSteps = (folder) => ({
  async 'files of Slurm become the cluster'(page) {
    await page.getByLabel('Files of a cluster').setInputFiles([asFile('topology.conf', kTopology), asFile('scontrol.txt', kNodes)]);
    await page.getByText('56 devices from slurm').waitFor();
    await planned(page);
    check((await page.locator('#cluster-text').inputValue()).includes('absent: [n8]'), 'the drained host is listed');
    await page.getByText('56 devices from slurm').click();
    await page.screenshot({ path: join(folder, 'files.png') });
    check(await page.getByText('latencies of the network are typical figures').isVisible(), 'assumptions are named');
  },

  async 'a file that is dropped on the page'(page) {
    const drop = (name, text) => page.evaluate(([file, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], file, { type: 'text/plain' }));
      window.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
    }, [name, text]);
    const yaml = 'name: pair\naccelerator: h100-sxm\nlevels:\n  - {name: node, size: 8, bandwidth: 450 GB/s, latency: 1 us}\n  - {name: rack, size: 2, bandwidth: 50 GB/s, latency: 5 us}\n';
    await drop('pair.yaml', yaml);
    await page.getByText('16 devices from cluster').waitFor();
    await planned(page);
    check((await page.locator('#cluster-text').inputValue()).includes('name: pair'), 'the cluster file is taken');
  },
});
