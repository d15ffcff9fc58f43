import { describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { lookAround, probesFor } from '../../../src/system/vram/detect.ts'
import { machineTools, type ToolsOptions } from '../../../src/system/vram/tools.ts'
import { type Files, writeFiles } from '../../helpers/repo.ts'
import { tempDir } from '../../helpers/temp.ts'

const gib = 2 ** 30
const mib = 2 ** 20

/** A machine that has only these programs and these files, and its look at itself. */
function machine(
  programs: Record<string, string>,
  more: { files?: Files; options?: Partial<ToolsOptions> } = {},
) {
  const dir = tempDir()
  const bin = join(dir.path, 'bin')
  const root = join(dir.path, 'root')
  mkdirSync(bin)
  mkdirSync(root)
  const meminfo = 'MemTotal:       134217728 kB\nMemAvailable:   118566368 kB\n'
  writeFiles(root, { 'proc/meminfo': meminfo, ...more.files })
  for (const [name, script] of Object.entries(programs)) {
    writeFiles(bin, { [name]: `#!/bin/sh\n${script}\n` })
    chmodSync(join(bin, name), 0o755)
  }
  const options: ToolsOptions = {
    env: { PATH: `${bin}:/usr/bin:/bin`, HOME: dir.path },
    platform: 'linux',
    avoid: [],
    root,
    ...more.options,
  }
  return {
    dir,
    bin,
    async look(changes: Partial<ToolsOptions> = {}) {
      const tools = machineTools({ ...options, ...changes })
      const found = await lookAround(probesFor('linux', {}), tools, '2026-06-22T10:00:00.000Z')
      const outcome = (probe: string) => found.tried.find((one) => one.probe === probe)?.outcome
      return { ...found, outcome }
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  }
}

/** Answers by the arguments that hold a word. */
const answers = (cases: Record<string, string>, otherwise = 'exit 3') =>
  `case "$*" in ${Object.entries(cases)
    .map(([word, script]) => `*"${word}"*) ${script};;`)
    .join(' ')} *) ${otherwise};; esac`

const say = (text: string) => `printf '%s\\n' '${text}'`

test('a machine without cards and tools is unknown, and every probe says why', async () => {
  using m = machine({})
  const found = await m.look()
  expect(found).toMatchObject({ bytes: null, source: null, device: null, memory: null })
  expect(found.tried).toEqual([
    { probe: 'nvidia-smi', outcome: 'not installed' },
    { probe: 'amd-smi', outcome: 'not installed' },
    { probe: 'rocm-smi', outcome: 'not installed' },
    { probe: 'sysfs (amdgpu)', outcome: 'no card' },
    { probe: 'xpu-smi', outcome: 'not installed' },
    { probe: 'sysfs (xe, i915)', outcome: 'no card' },
  ])
})

describe('a tool that fails is unknown, never zero', () => {
  test.each([
    [
      'exits with an error on standard output',
      `${say('Failed to initialize NVML: Driver/library version mismatch')}; exit 18`,
      'it ended with 18: Failed to initialize NVML: Driver/library version mismatch',
    ],
    [
      'exits with an error on standard error',
      'echo "no permission" >&2; exit 1',
      'it ended with 1: no permission',
    ],
    [
      'fails although it printed a size',
      `${say('None, N/A, 24564, NVIDIA RTX')}; exit 9`,
      'it ended with 9: None, N/A, 24564, NVIDIA RTX',
    ],
    ['prints garbage', 'head -c 3000 /dev/zero', 'no size of a card in what it said: '],
    ['prints nothing', 'exit 0', 'it said nothing'],
    ['is killed', 'kill -9 $$', 'it ended with SIGKILL'],
    ['cannot be started', '', 'it said nothing'],
  ])('%s', async (_, script, outcome) => {
    using m = machine({ 'nvidia-smi': script })
    const found = await m.look()
    expect(found.bytes).toBeNull()
    expect(found.outcome('nvidia-smi')).toStartWith(outcome)
  })

  test('floods with brackets or empty lines: nothing is read again and again', async () => {
    using m = machine({
      'xpu-smi': `yes '' | head -c 1000000`,
      'amd-smi': `case "$*" in metric*) yes '[' ;; *) yes '' ;; esac | head -c 1000000`,
      'rocm-smi': `yes '' | head -c 1000000`,
    })
    // Such a look took minutes: patterns that start anew on each line must not reach over its end.
    const started = performance.now()
    const found = await m.look()
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(found.bytes).toBeNull()
  })

  test('hangs: it is ended with everything that it started, and the others still count', async () => {
    using m = machine({
      'nvidia-smi': `echo $$ > "$HOME/pid"; sleep 600`,
      'rocm-smi': say('GPU[0] : VRAM Total Memory (B): 17163091968'),
    })
    const started = performance.now()
    const found = await m.look({ limitMs: 500 })
    expect(performance.now() - started).toBeLessThan(10_000)
    expect(found).toMatchObject({ bytes: 17_163_091_968, source: 'rocm-smi' })
    expect(found.outcome('nvidia-smi')).toBe('it took longer than 0.5 seconds')
    const pid = (await Bun.file(join(m.dir.path, 'pid')).text()).trim()
    expect(existsSync(`/proc/${pid}`)).toBe(false)
  })

  test('floods: no more than its limit is read', async () => {
    using m = machine({ 'nvidia-smi': 'yes NVIDIA' })
    expect((await m.look({ limitMs: 400 })).bytes).toBeNull()
  })
})

test('every tool is asked in the language C, in the root folder, without the rest of the environment', async () => {
  using m = machine({
    'nvidia-smi': `echo "$LC_ALL $LANG $PWD [$SECRET]" > "$HOME/said"; ${say('N/A, N/A, 8192, NVIDIA RTX')}`,
  })
  const env = {
    PATH: `${m.bin}:/usr/bin:/bin`,
    HOME: m.dir.path,
    LC_ALL: 'de_DE.UTF-8',
    LANG: 'de_DE.UTF-8',
    SECRET: 'x',
  }
  expect((await m.look({ env })).bytes).toBe(8 * gib)
  expect(await Bun.file(join(m.dir.path, 'said')).text()).toBe('C C / []\n')
})

describe('nvidia-smi', () => {
  test('a column that an old driver does not know does not hide the card', async () => {
    const script = answers({
      addressing_mode: 'echo "Field \\"addressing_mode\\" is not a valid field to query."; exit 2',
      'memory.total,name': say('11264, NVIDIA GeForce GTX 1080 Ti'),
    })
    using m = machine({ 'nvidia-smi': script })
    expect(await m.look()).toMatchObject({ bytes: 11 * gib, device: 'NVIDIA GeForce GTX 1080 Ti' })
  })

  test.each([
    ['its size is a secret', '[Insufficient Permissions]'],
    ['the whole card is shown', '40960'],
  ])('of a sliced card the largest slice counts, where %s', async (_, total) => {
    const xml =
      '<nvidia_smi_log><gpu><product_name>NVIDIA A100</product_name><mig_devices><mig_device><fb_memory_usage><total>9856 MiB</total></fb_memory_usage></mig_device></mig_devices></gpu></nvidia_smi_log>'
    using m = machine({
      'nvidia-smi': answers({ '-q -x': say(xml), query: say(`None, Enabled, ${total}, NVIDIA A100`) }),
    })
    expect(await m.look()).toMatchObject({ bytes: 9856 * mib, device: 'NVIDIA A100 (MIG)' })
  })

  test('what has no memory of its own has the machine’s', async () => {
    using m = machine({ 'nvidia-smi': answers({ query: say('ATS, [N/A], [N/A], NVIDIA GB10') }) })
    expect(await m.look()).toMatchObject({ bytes: 128 * gib, memory: 'shared', source: 'nvidia-smi' })
  })

  test('of a great many cards the first are named, and all of them count', async () => {
    const rows = `${say('None, N/A, 8192, A')}; `.repeat(40) + say('None, N/A, 24576, B')
    using m = machine({ 'nvidia-smi': rows })
    const found = await m.look()
    expect(found).toMatchObject({ bytes: 24 * gib, device: 'B' })
    expect(found.outcome('nvidia-smi')).toEndWith('; A, 8.0 GiB; and 25 more')
  })

  test('of several cards the largest single one counts', async () => {
    using m = machine({
      'nvidia-smi': answers({
        query: `${say('None, N/A, 8192, A')}; ${say('None, N/A, 24576, B')}; ${say('None, N/A, [N/A], C')}`,
      }),
    })
    expect(await m.look()).toMatchObject({ bytes: 24 * gib, device: 'B' })
  })
})

describe('other tools', () => {
  test('amd-smi is asked a second way where the first says nothing', async () => {
    const script = answers(
      { static: say('[{"gpu":0,"vram":{"size":{"value":16368,"unit":"MB"}}}]') },
      say('[{"gpu":0,"mem_usage":{"total_vram":"N/A"}}]'),
    )
    using m = machine({ 'amd-smi': script })
    expect(await m.look()).toMatchObject({ bytes: 16_368 * mib, source: 'amd-smi' })
  })

  test('rocm-smi without JSON is read as text', async () => {
    const script = answers(
      { json: 'echo "unrecognized arguments: --json" >&2; exit 2' },
      say('GPU[0] : VRAM Total Memory (B): 8573157376'),
    )
    using m = machine({ 'rocm-smi': script })
    expect((await m.look()).bytes).toBe(8_573_157_376)
  })

  test('xpu-smi is asked for each card where its list leaves the memory out', async () => {
    const script = answers(
      {
        '-d 1': say('{"device_name":"Arc","memory_physical_size_byte":"17102532608"}'),
        '-d 0': say('{"device_name":"none"}'),
      },
      say('{"device_list":[{"device_id":0},{"device_id":1}]}'),
    )
    using m = machine({ 'xpu-smi': script })
    expect(await m.look()).toMatchObject({ bytes: 17_102_532_608, device: 'Arc' })
  })
})

describe('the kernel’s files', () => {
  const card = (vendor: string, files: Files) =>
    Object.fromEntries([
      ['sys/class/drm/card1/device/vendor', `${vendor}\n`],
      ['sys/class/drm/card1-DP-1/device/vendor', `${vendor}\n`],
      ...Object.entries(files).map(([name, text]) => [`sys/class/drm/card1/device/${name}`, text]),
    ])

  test.each([
    [
      'an AMD card',
      card('0x1002', {
        mem_info_vram_total: '17163091968\n',
        mem_info_gtt_total: '33500000000\n',
        mem_info_vram_vendor: 'samsung\n',
      }),
      17_163_091_968,
      'own',
    ],
    [
      'an AMD processor',
      card('0x1002', { mem_info_vram_total: '536870912\n', mem_info_gtt_total: '66000000000\n' }),
      66_536_870_912,
      'shared',
    ],
    [
      'an Intel card, driver xe',
      card('0x8086', { 'tile0/physical_vram_size_bytes': '12809404416\n' }),
      12_809_404_416,
      'own',
    ],
    [
      'an Intel card, driver i915',
      card('0x8086', { 'drm/card1/lmem_total_bytes': '17102532608\n' }),
      17_102_532_608,
      'own',
    ],
    ['an Intel processor', card('0x8086', {}), null, null],
    ['somebody else', card('0x1af4', { mem_info_vram_total: '17163091968\n' }), null, null],
  ] as const)('%s', async (_, files, bytes, memory) => {
    using m = machine({}, { files })
    expect(await m.look()).toMatchObject({ bytes, memory })
  })

  test('a discrete card comes before the processor beside it, which a tool takes for a card', async () => {
    const files = card('0x1002', { mem_info_vram_total: '536870912\n', mem_info_gtt_total: '66000000000\n' })
    using m = machine(
      {
        'rocm-smi': answers({ json: say('{"card0":{"VRAM Total Memory (B)":"536870912"}}') }),
        'nvidia-smi': answers({ query: say('None, N/A, 8192, NVIDIA RTX') }),
      },
      { files },
    )
    expect(await m.look()).toMatchObject({ bytes: 8 * gib, source: 'nvidia-smi' })
    using alone = machine(
      { 'rocm-smi': answers({ json: say('{"card0":{"VRAM Total Memory (B)":"536870912"}}') }) },
      { files },
    )
    expect(await alone.look()).toMatchObject({ bytes: 66_536_870_912, memory: 'shared' })
  })
})

describe('a program that a session could have planted is not run', () => {
  const planted = `touch "$HOME/ran"; ${say('None, N/A, 999999, planted')}`

  test.each([
    ['in the project', (bin: string) => ({ env: { PATH: `${bin}:/bin` }, avoid: [bin] })],
    [
      'in a folder below the project',
      (bin: string) => ({ env: { PATH: `${bin}:/bin` }, avoid: [join(bin, '..')] }),
    ],
    [
      'in a relative folder of PATH',
      (bin: string) => ({ env: { PATH: `.:bin:${bin}/../bin:/bin` }, avoid: [bin] }),
    ],
    ['with nothing on PATH', () => ({ env: {}, avoid: [] })],
  ])('%s', async (_, options) => {
    using m = machine({ 'nvidia-smi': planted })
    const { env, avoid } = options(m.bin)
    expect((await m.look({ env: { HOME: m.dir.path, ...env }, avoid })).outcome('nvidia-smi')).toBe(
      'not installed',
    )
    expect(existsSync(join(m.dir.path, 'ran'))).toBe(false)
  })

  test('behind a link that leads into the project', async () => {
    using m = machine({ 'nvidia-smi': planted })
    const links = join(m.dir.path, 'links')
    mkdirSync(links)
    symlinkSync(join(m.bin, 'nvidia-smi'), join(links, 'nvidia-smi'))
    const env = { HOME: m.dir.path, PATH: `${links}:/bin` }
    expect((await m.look({ env, avoid: [m.bin] })).bytes).toBeNull()
    expect((await m.look({ env })).bytes).not.toBeNull()
  })
})
