import { existsSync, readdirSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** A systemd that manages root's own services, with a /run and process numbers of its own. */
export interface UserManager extends AsyncDisposable {
  /** What goes before a command that is to run where this systemd is found. */
  enter: string[]
}

/** Why there is none. */
export interface NoUserManager {
  missing: string
}

const program = '/usr/lib/systemd/systemd'

/**
 * Starts systemd as a user's service manager in namespaces of its own, for a HOME of the test's. It needs root, a systemd
 * that is installed, and control groups that can be written to.
 */
export async function startUserManager(home: string): Promise<UserManager | NoUserManager> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return { missing: 'not root on Linux' }
  if (!existsSync(program)) return { missing: 'no systemd' }
  const groups = ownGroups().filter((path) => !existsSync(path))
  const script = [
    'mount -t tmpfs none /run',
    'mkdir -p -m 700 /run/systemd/system /run/user/0',
    // The first process of a namespace would be taken for the machine’s own.
    `XDG_RUNTIME_DIR=/run/user/0 ${program} --user --log-target=console & wait`,
  ]
  const child = Bun.spawn(
    ['unshare', '-m', '-p', '-f', '--mount-proc', '--kill-child', 'sh', '-ec', script.join('\n')],
    {
      env: { PATH: process.env.PATH ?? '', HOME: home },
      stdin: 'ignore',
      stdout: 'ignore',
      stderr: 'ignore',
    },
  )
  const manager = {
    enter: [] as string[],
    async [Symbol.asyncDispose]() {
      // Asked, it ends its services and takes its control groups away.
      if (manager.enter.length > 0) Bun.spawnSync([...manager.enter, 'systemctl', '--user', 'exit'])
      if (!(await Promise.race([child.exited.then(() => true), Bun.sleep(5000)]))) child.kill('SIGKILL')
      await child.exited
      for (const path of groups) removeGroup(path)
    },
  }
  for (
    const limit = Date.now() + 10_000;
    Date.now() < limit && child.exitCode === null;
    await Bun.sleep(50)
  ) {
    const [inner] = childrenOf(child.pid)
    if (inner === undefined) continue
    manager.enter = ['nsenter', '-t', inner, '-m', '-p', '--', 'env', 'XDG_RUNTIME_DIR=/run/user/0']
    const asked = Bun.spawnSync([...manager.enter, 'systemctl', '--user', 'show', '--property=Version'])
    if (asked.exitCode === 0) return manager
  }
  await manager[Symbol.asyncDispose]()
  return { missing: 'systemd does not start for a user here' }
}

function childrenOf(parent: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] === String(parent)
    } catch {
      // No process, or one that has just ended.
      return false
    }
  })
}

/** The control groups that the manager makes below the group of this process, in every hierarchy of systemd's. */
function ownGroups(): string[] {
  return readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, controllers, path = ''] = /^\d+:(.*?):(.*)$/.exec(line) ?? []
      if (controllers === 'name=systemd') return [join('/sys/fs/cgroup/systemd', path)]
      if (controllers !== '') return []
      return [join('/sys/fs/cgroup', path), join('/sys/fs/cgroup/unified', path)]
    })
    .flatMap((folder) => ['init.scope', 'app.slice', 'session.slice'].map((name) => join(folder, name)))
}

function removeGroup(path: string): void {
  if (!existsSync(path)) return
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) removeGroup(join(path, entry.name))
  }
  try {
    rmdirSync(path)
  } catch {
    // The kernel takes the manager's processes out of it a moment later.
  }
}
