// The process's entry, and the one file that sets its exit code. The version costs nothing but the start itself:
// nothing is imported for it.
const args = process.argv.slice(2)
if (args.length === 1 && args[0] === '--version') {
  console.log(`automaton ${typeof AUTOMATON_VERSION === 'string' ? AUTOMATON_VERSION : '0.0.0-source'}`)
} else if (args[0] === 'sandbox-exec') {
  // Inside a sandbox that is being made: no guard applies to it, and it becomes the session's program.
  const { sandboxExec } = await import('./system/sandbox/enter.ts')
  sandboxExec(args.slice(1))
} else if (args[0] === 'send-ctrl-c' && process.platform === 'win32') {
  // A helper of the automaton that runs a session, for the one thing that needs a console of its own.
  const { sendCtrlC } = await import('./system/windows/ask.ts')
  process.exit(sendCtrlC(Number(args[1])))
} else if (args[0] === 'plugin-process' && process.send) {
  // One user's plugin, for the automaton at the other end of the channel.
  const { runPluginProcess } = await import('./plugin/child.ts')
  runPluginProcess()
} else {
  const { run } = await import('./cli/edge.ts')
  process.exitCode = await run(args)
  // All output is written by now; what a plugin left running must not keep the process alive.
  process.exit()
}

export {}
