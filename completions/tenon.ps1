# tenon completion for PowerShell: tenon completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName tenon -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition -or $_.Extent.StartOffset -lt ($cursorPosition - $wordToComplete.Length) } |
        ForEach-Object { if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value } else { $_.ToString() } })
    $before = @($words | Select-Object -Skip 1)
    $current = $wordToComplete.Trim("'", '"')
    $lines = @(& $words[0] completion --complete -- @before "=$current" 2>$null)
    $lines | Select-Object -Skip 1 | ForEach-Object {
        $value, $description = $_ -split "`t", 2
        $text = $value
        if ($value -notmatch '^[A-Za-z0-9_./:=-]+$') {
            $text = "'" + ($value -replace "(['\u2018\u2019\u201a\u201b])", '$1$1') + "'"
        }
        if (-not $description) { $description = $value }
        [System.Management.Automation.CompletionResult]::new($text, $value, 'ParameterValue', $description)
    }
}
