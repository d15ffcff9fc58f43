// Stands for automaton's own entry: nothing but the hidden verb.
import { sandboxExec } from '../../../src/system/sandbox/enter.ts'

sandboxExec(process.argv.slice(3))
