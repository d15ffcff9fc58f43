import { expect, test } from 'bun:test'
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { needs } from '../crash/needs.ts'
import { makeBareRoot } from '../helpers/bare-root.ts'
import { binary } from '../helpers/cli.ts'
import { tempDir } from '../helpers/temp.ts'

/** The whole life of an installation, as a person would type it; each line that fails ends it. */
const life = `
set -eux
export HOME='/home/a user'
cd "$HOME"
git config --global user.name Pat
git config --global user.email pat@example.test
git init -q --bare -b main 'my repository.git'
if sh './my downloads/install.sh' --binary './my downloads/automaton'; then exit 1; else [ $? = 2 ]; fi
[ ! -e .automaton ]
if sh './my downloads/install.sh' --git-url nowhere.git --binary './my downloads/automaton'; then exit 1; else [ $? = 5 ]; fi
[ ! -e .automaton ]
sh './my downloads/install.sh' --git-url 'my repository.git' --binary './my downloads/automaton'
export PATH="$HOME/.automaton/bin:$PATH"
[ "$(command -v automaton)" = "$HOME/.automaton/bin/automaton" ]
[ ! -L .automaton/bin/automaton ]
git -C .automaton push -q -u origin main
[ -z "$(git -C .automaton status --porcelain)" ]
automaton status self-improvement --project .automaton
if automaton tick self-improvement --scheduled --project .automaton; then exit 1; else [ $? = 5 ]; fi
sh './my downloads/install.sh' --binary './my downloads/automaton' | grep 'up to date'
git clone -q 'my repository.git' other
echo 'backend: remote' >>other/config.md
git -C other commit -qam 'no local models'
git -C other push -q
echo mine >.automaton/mine.md
sh './my downloads/install.sh' --binary './my downloads/automaton' | grep 'went forward'
grep -q 'backend: remote' .automaton/config.md
grep -q mine .automaton/mine.md
git init -q -b main project
cd project
git commit -q --allow-empty -m first
automaton init
automaton create-loop nightly --from-template backlog
cd ..
automaton uninstall --yes
[ ! -e .automaton/bin/automaton ]
[ -e .automaton/config.md ]
git -C .automaton log --oneline
`

const isRoot = process.getuid?.() === 0
const title = 'a bare Debian system gets automaton as an ordinary user, updates it and is rid of it'

const run = isRoot ? needs('dpkg-query', 'unshare', 'chroot') : notRoot
run(
  title,
  async () => {
    using dir = tempDir()
    const root = join(dir.path, 'root')
    const packages = makeBareRoot(root)
    expect(packages).not.toContain('nodejs')
    const downloads = join(root, 'home', 'a user', 'my downloads')
    mkdirSync(downloads, { recursive: true })
    copyFileSync(join(import.meta.dir, '..', '..', 'install.sh'), join(downloads, 'install.sh'))
    copyFileSync(binary, join(downloads, 'automaton'))
    Bun.spawnSync(['chown', '-R', '1000:1000', join(root, 'home', 'a user')])
    // Its own processes alone are in /proc, and nothing stays mounted.
    const inside = ['unshare', '--mount', '--pid', '--fork', `--mount-proc=${join(root, 'proc')}`]
    const asUser = ['chroot', '--userspec=1000:1000', root, '/usr/bin/env', '-i', 'PATH=/usr/bin:/bin']
    const done = Bun.spawnSync([...inside, ...asUser, 'sh', '-c', life])
    expect(done.exitCode, done.stderr.toString()).toBe(0)
  },
  120_000,
)

function notRoot(name: string, test_: () => Promise<void>): void {
  test.skip(`${name} (skipped: only root can change the root)`, test_)
}
