import { dlopen, type Pointer, ptr } from 'bun:ffi'

/** A handle of the system's, as a whole number: as a pointer, the invalid one (all ones) would not survive. */
export type Handle = bigint

/** What `CreateFileW` and `CreateToolhelp32Snapshot` answer when they fail. */
export const invalidHandle: Handle = -1n

/** The calls that are used of Windows' own library. Loaded once, when the first of them is needed. */
export function kernel32(): Kernel32 {
  loaded ??= load()
  return loaded
}

/** The address of bytes. They must stay referenced while the system looks at them. */
export function at(bytes: NodeJS.TypedArray, offset = 0): Pointer {
  return ptr(bytes, offset)
}

type Kernel32 = ReturnType<typeof load>

let loaded: Kernel32 | undefined

/** By its bare name: Windows itself keeps this one from being looked for in any folder (a known DLL). */
function load() {
  return dlopen('kernel32.dll', {
    AssignProcessToJobObject: { args: ['i64', 'i64'], returns: 'i32' },
    AttachConsole: { args: ['u32'], returns: 'i32' },
    CloseHandle: { args: ['i64'], returns: 'i32' },
    CreateFileW: { args: ['ptr', 'u32', 'u32', 'ptr', 'u32', 'u32', 'ptr'], returns: 'i64' },
    CreateJobObjectW: { args: ['ptr', 'ptr'], returns: 'i64' },
    CreateToolhelp32Snapshot: { args: ['u32', 'u32'], returns: 'i64' },
    FreeConsole: { args: [], returns: 'i32' },
    GenerateConsoleCtrlEvent: { args: ['u32', 'u32'], returns: 'i32' },
    GetCurrentProcess: { args: [], returns: 'i64' },
    GetLastError: { args: [], returns: 'u32' },
    GetProcessTimes: { args: ['i64', 'ptr', 'ptr', 'ptr', 'ptr'], returns: 'i32' },
    OpenProcess: { args: ['u32', 'i32', 'u32'], returns: 'i64' },
    Process32FirstW: { args: ['i64', 'ptr'], returns: 'i32' },
    Process32NextW: { args: ['i64', 'ptr'], returns: 'i32' },
    QueryInformationJobObject: { args: ['i64', 'i32', 'ptr', 'u32', 'ptr'], returns: 'i32' },
    SetConsoleCtrlHandler: { args: ['ptr', 'i32'], returns: 'i32' },
    SetInformationJobObject: { args: ['i64', 'i32', 'ptr', 'u32'], returns: 'i32' },
    TerminateJobObject: { args: ['i64', 'u32'], returns: 'i32' },
    TerminateProcess: { args: ['i64', 'u32'], returns: 'i32' },
    WaitForSingleObject: { args: ['i64', 'u32'], returns: 'u32' },
  } as const).symbols
}
