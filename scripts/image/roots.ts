/** Root folders for the stages of an image: what is written lies over this machine's files, which stand in for the base image. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const run = (program: string, ...args: string[]): string => execFileSync(program, args, { encoding: 'utf8' })

export interface Roots {
  /** A new root: the Node of `node:24-slim`, its user `node`, an empty /tmp. */
  make(base: string): string
  /** From now on nothing below it can be written but these folders, which belong to the user, and /tmp; it has no shell. */
  seal(root: string, folders: readonly string[], user: string): void
  remove(): void
}

export function openRoots(): Roots {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-image-'))
  const mounted: string[] = []
  const mount = (at: string, ...args: string[]) => {
    run('mount', ...args, at)
    mounted.push(at)
  }
  // Its own file system: one overlay cannot lie upon another, which /tmp may be.
  mount(scratch, '-t', 'tmpfs', 'tmpfs')
  return {
    make(base) {
      if (!base.startsWith('node:24')) throw new Error(`There is no stand-in for ${base}.`)
      const folder = join(scratch, String(mounted.length))
      const [upper, work, root] = ['upper', 'work', 'root'].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ]
      for (const one of [upper, work, root]) mkdirSync(one, { recursive: true })
      mount(root, '-t', 'overlay', 'overlay', '-o', `lowerdir=/,upperdir=${upper},workdir=${work}`)
      mount(join(root, 'proc'), '--bind', '/proc')
      mount(join(root, 'dev'), '--bind', '/dev')
      mount(join(root, 'tmp'), '-t', 'tmpfs', 'tmpfs')
      rmSync(join(root, 'usr/local/bin/node'), { force: true })
      copyFileSync(process.execPath, join(root, 'usr/local/bin/node'))
      writeFileSync(join(root, 'usr/sbin/policy-rc.d'), '#!/bin/sh\nexit 101\n', { mode: 0o755 })
      run('chroot', root, 'sh', '-c', 'id node >/dev/null 2>&1 || useradd --create-home node')
      return root
    },
    seal(root, folders, user) {
      for (const folder of folders) {
        mount(join(root, folder), '-t', 'tmpfs', '-o', 'mode=700', 'tmpfs')
        run('chroot', root, 'chown', `${user}:`, folder)
      }
      run('mount', '-o', 'remount,ro', root)
      for (const shell of ['bin/sh', 'bin/bash']) mount(join(root, shell), '--bind', '/dev/null')
    },
    remove() {
      for (const at of mounted.reverse()) run('umount', '--lazy', at)
      rmSync(scratch, { recursive: true, force: true })
    },
  }
}
