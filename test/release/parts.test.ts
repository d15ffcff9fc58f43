import { describe, expect, test } from 'bun:test'
import { unzipSync } from 'fflate'
import { parseTarGzip } from 'nanotar'
import { tarGz, zip } from '../../release/archive.ts'
import { readSignature, signAdHoc } from '../../release/codesign.ts'
import { headerOf } from '../../release/headers.ts'
import { lockFile } from '../../release/lock-file.ts'
import { notices } from '../../release/notices.ts'
import { sbom } from '../../release/sbom.ts'
import { targetNames, targets } from '../../release/targets.ts'

test('the lock file pins the Bun and the addon of every target', () => {
  const pinned = lockFile()
  for (const name of targetNames) {
    expect(targets[name].name).toBe(name)
    expect(pinned(targets[name].runtime).version).toBe(Bun.version)
    expect(pinned(targets[name].addon).integrity).toStartWith('sha512-')
  }
  expect(() => pinned('left-pad')).toThrow('package-lock.json does not pin left-pad')
})

test('the notices hold the terms of each package, and a package without any is refused', () => {
  const pinned = lockFile()
  const text = notices(['valibot', '@napi-rs/simple-git-linux-x64-gnu', '@oven/bun-linux-x64'].map(pinned))
  expect(text).toContain(`\nvalibot ${pinned('valibot').version} (MIT)\n\nMIT License\n`)
  expect(text).toContain('Copyright (c) Fabian Hiller')
  expect(text).toMatch(/\n@napi-rs\/simple-git-linux-x64-gnu [\d.]+ \(MIT\)\n\nMIT License\n/)
  expect(text).toContain('/libgit2/blob/main/COPYING\n')
  expect(text).toContain('https://bun.com/docs/project/license\n')
  expect(() => notices([pinned('bun')])).toThrow('bun brings no text of its licence')
})

describe('a header', () => {
  const cases = {
    'linux x64 glibc': elf(62, '/lib64/ld-linux-x86-64.so.2'),
    'linux arm64 musl': elf(183, '/lib/ld-musl-aarch64.so.1'),
    'linux arm64 undefined': elf(183),
    'darwin arm64 undefined': machO(0x0100000c),
    'darwin x64 undefined': machO(0x01000007),
    'windows arm64 undefined': pe(0xaa64),
    'windows x64 undefined': pe(0x8664),
  }

  test('tells system, processor and C library', () => {
    for (const [expected, file] of Object.entries(cases)) {
      const { os, cpu, libc } = headerOf(file)
      expect(`${os} ${cpu} ${libc}`).toBe(expected)
    }
  })

  test('of anything else is refused', () => {
    expect(() => headerOf(Buffer.alloc(100))).toThrow('it is no program')
    expect(() => headerOf(elf(40))).toThrow('a processor with the code 40')
    expect(() => headerOf(Buffer.from('#!/bin/sh'))).toThrow('it is too short')
  })
})

describe('an archive', () => {
  const entries = [
    { name: 'automaton', bytes: Buffer.from('program '.repeat(1000)), executable: true },
    { name: 'LICENSE', bytes: Buffer.from('text'), executable: false },
  ]
  const time = Date.UTC(2026, 4, 6, 7, 8, 10) / 1000

  test('as .tar.gz holds the files with their modes and the given time', async () => {
    const files = await parseTarGzip(await tarGz(entries, time))
    expect(files.map(({ name, text, attrs }) => [name, text, attrs?.mode, attrs?.mtime, attrs?.uid])).toEqual(
      [
        ['automaton', 'program '.repeat(1000), '0000755', time, 0],
        ['LICENSE', 'text', '0000644', time, 0],
      ],
    )
  })

  test('as .zip holds the same', async () => {
    const files = Object.entries(unzipSync(await zip(entries, time)))
    expect(files.map(([name, bytes]) => [name, Buffer.from(bytes).toString()])).toEqual([
      ['automaton', 'program '.repeat(1000)],
      ['LICENSE', 'text'],
    ])
  })

  test('is the same bytes in every time zone', () => {
    const made = ['Pacific/Auckland', 'America/Los_Angeles'].map((zone) => {
      const script = `
        import { tarGz, zip } from ${JSON.stringify(`${import.meta.dir}/../../release/archive.ts`)}
        const entries = [{ name: 'a', bytes: Buffer.from('b'), executable: true }]
        const archives = await Promise.all([zip(entries, ${time}), tarGz(entries, ${time})])
        console.log(archives.map((bytes) => Buffer.from(bytes).toString('hex')).join())`
      return Bun.spawnSync([process.execPath, '-e', script], { env: { TZ: zone } }).stdout.toString()
    })
    expect(made[0]).toMatch(/^504b0304\w+,1f8b08\w+\n$/)
    expect(made[1]).toBe(made[0] ?? '')
  })
})

describe('an ad-hoc signature', () => {
  test('covers every page of the program, and takes the place of one that no longer fits', () => {
    const signed = signAdHoc(signable(), 'automaton')
    expect(readSignature(signed)).toEqual({ identifier: 'automaton', adHoc: true, badPages: 0 })
    const changed = Buffer.from(signed)
    changed[5000] = 1
    expect(readSignature(changed).badPages).toBe(1)
    expect(signAdHoc(changed, 'automaton').length).toBe(signed.length)
    expect(readSignature(signAdHoc(changed, 'other'))).toEqual({
      identifier: 'other',
      adHoc: true,
      badPages: 0,
    })
  })

  test('is refused for a program that has no room for one', () => {
    expect(() => signAdHoc(machO(0x01000007), 'x')).toThrow('the program has no place for a signature')
    expect(() => readSignature(signable())).toThrow('the program is not signed')
  })
})

test('a bill of materials names every package by its hash, and is the same each time', () => {
  const integrity = `sha512-${Buffer.from('ab', 'hex').toString('base64')}`
  const zx = { name: 'zx', version: '8.0.0', integrity, license: 'Apache-2.0' }
  const bun = { ...zx, name: '@oven/bun-linux-x64', targets: ['linux-x64'] }
  const bill = sbom({ version: '1.2.3', commit: 'c0ffee', time: 0, bundled: [zx], perTarget: [bun] })
  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { timestamp: '1970-01-01T00:00:00Z', component: { name: 'automaton', version: '1.2.3' } },
    components: [
      { type: 'library', purl: 'pkg:npm/zx@8.0.0', hashes: [{ alg: 'SHA-512', content: 'ab' }] },
      {
        type: 'platform',
        group: '@oven',
        name: 'bun-linux-x64',
        purl: 'pkg:npm/%40oven/bun-linux-x64@8.0.0',
        properties: [{ name: 'automaton:target', value: 'linux-x64' }],
      },
    ],
  })
})

/** The least of an ELF program: a header, one program header that names the loader, and the name. */
function elf(machine: number, loader?: string): Buffer {
  const file = Buffer.alloc(256)
  file.writeUInt32BE(0x7f454c46)
  file.writeUInt16LE(machine, 18)
  file.writeBigUInt64LE(64n, 32)
  file.writeUInt16LE(56, 54)
  file.writeUInt16LE(loader === undefined ? 0 : 1, 56)
  file.writeUInt32LE(3, 64)
  file.writeBigUInt64LE(128n, 72)
  file.writeBigUInt64LE(BigInt(loader?.length ?? 0), 96)
  file.write(loader ?? '', 128)
  return file
}

function machO(cpu: number): Buffer {
  const file = Buffer.alloc(64)
  file.writeUInt32LE(0xfeedfacf)
  file.writeUInt32LE(cpu, 4)
  return file
}

function pe(machine: number): Buffer {
  const file = Buffer.alloc(128)
  file.write('MZ')
  file.writeUInt32LE(64, 60)
  file.write('PE', 64)
  file.writeUInt16LE(machine, 68)
  return file
}

/** A Mach-O program of three and a half pages, with the load commands that a signature is about. */
function signable(): Buffer {
  const file = Buffer.alloc(14_336 + 20)
  machO(0x0100000c).copy(file)
  file.writeUInt32LE(3, 16)
  let at = 32
  for (const [name, start, size] of [
    ['__TEXT', 0, 8192],
    ['__LINKEDIT', 8192, 6144],
  ] as const) {
    file.writeUInt32LE(0x19, at)
    file.writeUInt32LE(72, at + 4)
    file.write(name, at + 8)
    file.writeBigUInt64LE(BigInt(start), at + 40)
    file.writeBigUInt64LE(BigInt(size), at + 48)
    at += 72
  }
  for (const [index, word] of [0x1d, 16, 14_336, 20].entries()) file.writeUInt32LE(word, at + index * 4)
  return file
}
