// The process's entry, and the one file that sets its exit code. The version costs nothing but the start itself:
// nothing is imported for it.
const args = process.argv.slice(2)
if (args.length === 1 && args[0] === '--version') {
  console.log(`automaton ${typeof AUTOMATON_VERSION === 'string' ? AUTOMATON_VERSION : '0.0.0-source'}`)
} else {
  const { run } = await import('./cli/edge.ts')
  process.exitCode = await run(args)
  // All output is written by now; what a plugin left running must not keep the process alive.
  process.exit()
}

export {}
