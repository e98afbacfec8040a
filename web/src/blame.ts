// Which control an error of the server stands beside.
import type { State } from './state';

type Asked = Pick<State, 'cluster' | 'clusterText' | 'modelText' | 'recipeText' | 'devices'>;

// Keys of the request, the likeliest first; none where the error belongs to no control.
export function blamedKeys(where: string, state: Asked): string[] {
  // A place in a text: "cluster: line 4, levels[0]".
  const text = /^(model|cluster|recipe)(?=:|$)/.exec(where)?.[1] as 'model' | 'cluster' | 'recipe' | undefined;
  if (text) return state[`${text}Text`] ? [`${text}_text`, text] : [text];
  // A number of devices that the cluster cannot have.
  if (state.devices !== null && where !== '' && (where === state.cluster || state.clusterText.includes(where))) return ['devices', 'cluster'];
  const key = /([\w.-]+)$/.exec(where)?.[1] ?? '';
  return key ? [key, key.replace(/_text$/, '')] : [];
}
