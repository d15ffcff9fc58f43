/** Automaton was told to stop while a session ran. The tick cleans up and the edge exits 130 or 143. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}
