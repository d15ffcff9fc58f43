import type { Pinned } from './lock-file.ts'

/** What a bill of materials is made from. */
export interface Materials {
  version: string
  commit: string
  /** Seconds since 1970, of the commit. */
  time: number
  /** npm packages whose code is in every binary. */
  bundled: readonly Pinned[]
  /** npm packages of which each binary holds the one for its system: Bun and the addons. */
  perTarget: readonly (Pinned & { targets: readonly string[] })[]
}

/** The bill of materials of a release, as CycloneDX 1.6. The same materials give the same text. */
export function sbom({ version, commit, time, bundled, perTarget }: Materials): object {
  const self = `pkg:generic/automaton@${version}`
  const components = [
    ...bundled.map((pinned) => component(pinned, [])),
    ...perTarget.map((pinned) => component(pinned, pinned.targets)),
  ]
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      timestamp: new Date(time * 1000).toISOString().replace('.000Z', 'Z'),
      component: {
        type: 'application',
        'bom-ref': self,
        name: 'automaton',
        version,
        licenses: [{ license: { id: 'MIT' } }],
        properties: [{ name: 'automaton:commit', value: commit }],
      },
    },
    components,
    dependencies: [
      { ref: self, dependsOn: components.map((one) => one['bom-ref']) },
      ...components.map((one) => ({ ref: one['bom-ref'] })),
    ],
  }
}

function component({ name, version, integrity, license }: Pinned, targets: readonly string[]) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  const [group, short] = name.startsWith('@') ? name.split('/') : [null, name]
  return {
    type: name.startsWith('@oven/') ? 'platform' : 'library',
    'bom-ref': purl,
    ...(group ? { group } : {}),
    name: short,
    version,
    hashes: [
      { alg: 'SHA-512', content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex') },
    ],
    licenses: [{ license: { id: license } }],
    purl,
    ...(targets.length > 0
      ? { properties: targets.map((value) => ({ name: 'automaton:target', value })) }
      : {}),
  }
}
