import { describe, expect, test } from 'bun:test'
import { makeProject, must } from '../helpers/project.ts'

/** The text of an answer without its layout. */
const flat = (text: string) => text.replace(/\s+/g, ' ')

describe('what a tick tells the person who started it', () => {
  test('with nothing to work it says which tasks are left alone, why, and what to type', async () => {
    using p = await makeProject()
    await must(p.call(['claim', 'fix-it']))
    const claimed = await p.tick()
    expect(flat(claimed.stdout)).toContain('found no work left alone fix-it: claimed by ')
    expect(claimed.stdout).toContain('  next        automaton release fix-it\n')
    const brief = ['create-task', 'ask-me', '--brief', '-']
    await must(p.call(brief, { stdin: 'Ask.\n' }))
    await must(p.call(['transition', 'ask-me', 'human_intervention', '--reason', 'which database?']))
    const asked = await p.tick()
    expect(flat(asked.stdout)).toContain('ask-me: waits for you: which database?')
    expect(asked.stdout).toContain('  next        automaton approve --task ask-me\n')
    expect((await p.tick('--json')).json().waiting).toEqual([
      {
        task: 'ask-me',
        why: 'waits for you: which database?',
        fix: 'automaton approve --task ask-me',
      },
      expect.objectContaining({ task: 'fix-it', fix: 'automaton release fix-it' }),
    ])
  })

  test('with no open task at all it says how to make one', async () => {
    using p = await makeProject({ task: false })
    expect((await p.tick()).stdout).toContain('  next        automaton create-task NAME --brief FILE\n')
  })

  test('when the work is done, how to take it over; so does status', async () => {
    using p = await makeProject({ createArgs: ['--task', 'fix-it'] })
    for (let tick = 1; tick <= 4; tick++) await must(p.tick())
    const last = await must(p.tick())
    expect(last.stdout).toContain('  next        git merge automaton/nightly\n')
    const status = (await p.call(['status', p.loop, '--json'])).json()
    expect(status.next).toEqual(['git merge automaton/nightly', 'automaton log nightly'])
    p.git('merge', '-q', 'automaton/nightly')
    expect(p.git('show', 'main:src/work.txt')).not.toBe('start')
    expect((await p.call(['status', p.loop, '--json'])).json().next).toEqual(['automaton log nightly'])
  }, 20_000)

  test('a loop that goes on says so too, until its work is merged', async () => {
    using p = await makeProject()
    for (let tick = 1; tick <= 5; tick++) await must(p.tick())
    expect((await p.call(['status', p.loop, '--json'])).json().next).toEqual([
      'git merge automaton/nightly',
      'automaton tick nightly',
    ])
    p.git('merge', '-q', 'automaton/nightly')
    await must(p.call(['create-task', 'more', '--brief', '-'], { stdin: 'More.\n' }))
    await must(p.tick())
    expect((await p.call(['status', p.loop, '--json'])).json().next).toEqual(['automaton tick nightly'])
  }, 20_000)

  test('good work without its verdict line stays, and the next session is told which line it lacks', async () => {
    const loop = { roles: { orchestrate: { mode: 'rules' } } }
    const implement = 'echo x >> src/work.txt; echo ok > "$AUTOMATON_OUTPUT"'
    using p = await makeProject({ loop, scenario: { implement } })
    await must(p.tick())
    const review = (await must(p.tick('--json'))).json()
    expect(review).toMatchObject({ from: 'code_review', to: 'code_review', verdict: { pass: true } })
    expect(p.state().next_hint).toContain(
      'the artifact has no line of its own that says "Verdict: PASS" or "Verdict: CHANGES"',
    )
  })

  test('after a session that failed, which tick to look at', async () => {
    using p = await makeProject({ scenario: { implement: 'echo no credit >&2; exit 7' } })
    const failed = await p.tick()
    expect(failed.code).toBe(5)
    expect(flat(failed.stdout)).toContain('why it exited with 7: no credit')
    expect(failed.stdout).toContain('  next        automaton log nightly --tick 1\n')
    expect((await must(p.call(['log', 'nightly', '--tick', '1']))).stdout).toContain('no credit')
  })

  test('what a session costs is never a sum that nobody reported', async () => {
    using p = await makeProject()
    const { stdout } = await must(p.tick())
    expect(stdout).toMatch(/spent +[\d.]+ s, cost not reported\n/)
    expect((await p.call(['status'])).stdout).toContain('cost not reported, ')
  })
})
