const lines = (...events: object[]) => events.map((event) => JSON.stringify(event)).join('\n')

const streamJson = lines(
  { type: 'system', subtype: 'init', session_id: 's1' },
  { type: 'assistant', session_id: 's1', message: { content: [{ type: 'text', text: 'Done.' }] } },
  {
    type: 'result',
    subtype: 'success',
    is_error: false,
    session_id: 's1',
    result: 'Done.',
    usage: { input_tokens: 9, output_tokens: 1 },
  },
)

/** The shortest good run of each built-in harness that writes events; its final message is `Done.` */
export const goodRuns: Record<string, string> = {
  aider: 'Aider v0.86.1\nModel: m\n\nDone.\n\nTokens: 2.3k sent, 45 received.\n',
  amp: streamJson,
  claude: streamJson,
  codex: lines(
    { type: 'thread.started', thread_id: 't1' },
    { type: 'item.completed', item: { type: 'agent_message', text: 'Done.' } },
    { type: 'turn.completed', usage: { input_tokens: 9, cached_input_tokens: 0, output_tokens: 1 } },
  ),
  copilot: lines(
    { type: 'assistant.message', data: { content: 'Done.' } },
    { type: 'result', sessionId: 's1', exitCode: 0 },
  ),
  cursor: streamJson,
  gemini: lines(
    { type: 'init', session_id: 's1' },
    { type: 'message', role: 'assistant', content: 'Done.' },
    { type: 'result', status: 'success', stats: { total_tokens: 10, input_tokens: 9, output_tokens: 1 } },
  ),
  goose: lines(
    { type: 'message', message: { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] } },
    { type: 'complete', total_tokens: 10 },
  ),
  opencode: lines(
    { type: 'step_start', sessionID: 's1', part: {} },
    { type: 'text', sessionID: 's1', part: { text: 'Done.' } },
    { type: 'step_finish', sessionID: 's1', part: { reason: 'stop', tokens: { total: 10 }, cost: 0.1 } },
  ),
  qwen: streamJson,
}
