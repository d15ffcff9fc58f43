# Installs automaton for this user on Windows, or updates it: fetches the program, checks it, and lets it do the rest
# (`automaton install`). Needs no administrator. For Windows PowerShell 5.1 and newer.
param(
    # Your own repository, which HOME becomes a clone of; it may be empty. Also AUTOMATON_GIT_URL.
    [string]$GitUrl = $env:AUTOMATON_GIT_URL,
    # Where HOME is. Default: .automaton in your profile.
    [string]$HomeFolder = $env:AUTOMATON_HOME,
    # A release, as an address or a folder: SHA256SUMS and archives. Default: the folder of this script.
    [string]$Release = $env:AUTOMATON_RELEASE,
    # This program, instead of a release.
    [string]$Binary = ''
)

$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

# One error is two lines, as automaton's own.
function Stop-Install([string]$What, [string]$Fix, [int]$Code) {
    [Console]::Error.WriteLine("install.ps1: $What")
    [Console]::Error.WriteLine("  fix: $Fix")
    exit $Code
}

# One file of the release, into the temporary folder.
function Get-ReleaseFile([string]$Name) {
    $target = Join-Path $work $Name
    try {
        if ($Release -match '^https://') {
            Invoke-WebRequest -UseBasicParsing -Uri ($Release.TrimEnd('/') + '/' + $Name) -OutFile $target
        } elseif ($Release -match '^[a-z]+://') {
            Stop-Install "address refused ($Release): what comes without encryption could be anybody's" 'use https' 2
        } else {
            Copy-Item -LiteralPath (Join-Path $Release $Name) -Destination $target
        }
    } catch {
        Stop-Install "cannot read ($Release, $Name): $($_.Exception.Message)" 'check the address and the network, then try again' 5
    }
    return $target
}

function Get-Program {
    $sums = Get-Content -LiteralPath (Get-ReleaseFile 'SHA256SUMS')
    $architecture = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
    $names = if ($architecture -eq 'ARM64') { 'windows-arm64', 'windows-x64', 'windows-x64-baseline' } else { 'windows-x64', 'windows-x64-baseline' }
    foreach ($name in $names) {
        $archive = "automaton-$name.zip"
        $line = $sums | Where-Object { $_ -match ('^[0-9a-fA-F]{64} [ *]' + [regex]::Escape($archive) + '$') } | Select-Object -First 1
        if (-not $line) { continue }
        $file = Get-ReleaseFile $archive
        $found = (Get-FileHash -Algorithm SHA256 -LiteralPath $file).Hash
        if ($found -ne $line.Substring(0, 64)) {
            Stop-Install "wrong checksum ($archive): it is $found" 'download the release again' 5
        }
        Expand-Archive -LiteralPath $file -DestinationPath (Join-Path $work $name)
        $program = Join-Path (Join-Path $work $name) 'automaton.exe'
        # A processor without AVX2 cannot run the first choice.
        try { & $program --version | Out-Null } catch { continue }
        if ($LASTEXITCODE -eq 0) { return $program }
    }
    Stop-Install "no program for this machine ($Release): $($names -join ', ') would run here" 'check -Release' 5
}

if (-not $HomeFolder) { $HomeFolder = Join-Path $env:USERPROFILE '.automaton' }
if (-not [IO.Path]::IsPathRooted($HomeFolder)) { $HomeFolder = Join-Path (Get-Location).Path $HomeFolder }
if (-not $GitUrl -and -not (Test-Path -LiteralPath (Join-Path $HomeFolder '.git'))) {
    Stop-Install 'no git URL (install.ps1): without a repository of yours, what automaton changes in its own files could not be undone' 'make an empty repository, then: install.ps1 -GitUrl URL' 2
}
if (-not $Release -and $PSScriptRoot -and (Test-Path -LiteralPath (Join-Path $PSScriptRoot 'SHA256SUMS'))) { $Release = $PSScriptRoot }
if (-not $Release -and -not $Binary) {
    Stop-Install 'nothing to install (install.ps1): it lies beside no release' 'install.ps1 -GitUrl URL -Release URL' 2
}

$work = Join-Path ([IO.Path]::GetTempPath()) ('automaton-install-' + [guid]::NewGuid())
New-Item -ItemType Directory -Path $work | Out-Null
$code = 1
try {
    $program = if ($Binary) { (Resolve-Path -LiteralPath $Binary).Path } else { Get-Program }
    $env:AUTOMATON_HOME = $HomeFolder
    if ($GitUrl) { & $program install --git-url $GitUrl } else { & $program install }
    $code = $LASTEXITCODE
} finally {
    Remove-Item -LiteralPath $work -Recurse -Force -ErrorAction SilentlyContinue
}
exit $code
