import type { Notice } from './notice.ts'

/** The program that shows a notice on this system. What it says is handed over as arguments or variables, never as code. */
export function desktopCommand(
  platform: string,
  { title, text, commands }: Notice,
): { argv: string[]; env?: Record<string, string> } {
  const body = [text, ...commands].join('\n')
  switch (platform) {
    case 'darwin': {
      const lines = [
        'on run argv',
        'display notification (item 2 of argv) with title (item 1 of argv)',
        'end run',
      ]
      return { argv: ['osascript', ...lines.flatMap((line) => ['-e', line]), title, body] }
    }
    case 'win32':
      return {
        argv: ['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', toast],
        env: { AUTOMATON_TITLE: title, AUTOMATON_TEXT: body },
      }
    default:
      // Its body may hold marks: what stands in a file's name is none.
      return { argv: ['notify-send', '--app-name=automaton', '--', title, escaped(body)] }
  }
}

const toast = [
  '$kind = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]',
  '$xml = $kind::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)',
  '$texts = $xml.GetElementsByTagName("text")',
  '$null = $texts.Item(0).AppendChild($xml.CreateTextNode($env:AUTOMATON_TITLE))',
  '$null = $texts.Item(1).AppendChild($xml.CreateTextNode($env:AUTOMATON_TEXT))',
  '$toast = [Windows.UI.Notifications.ToastNotification, Windows.UI.Notifications, ContentType = WindowsRuntime]::new($xml)',
  '$kind::CreateToastNotifier("automaton").Show($toast)',
].join('; ')

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
