/** What the model is asked when earlier parts of the conversation have to make room. */
export function summaryQuestion(): string {
  return [
    'The conversation is about to outgrow its window. What stands above this message will be removed and replaced by your summary; the newest messages stay as they are. Do not call a tool and do not go on with the task: answer with the summary alone.',
    '',
    'Write down what is needed to go on as if nothing had been removed:',
    '- what was found out, with the names of files, functions and commands as they are',
    '- what was changed and why, and what was tried and did not work',
    '- results of checks: which tests pass, which fail and with what message',
    '- decisions, and wishes of the person that still hold, in their own words',
    '- what is left to do, and what the next step is',
    'Leave out the content of files that can be read again.',
  ].join('\n');
}

/** The message that opens the conversation after a summary: the task word for word, then what the summary says. */
export function summaryHead({
  task,
  summary,
  notes,
}: {
  readonly task: string;
  readonly summary: string;
  readonly notes: string;
}): string {
  const sections = [
    task,
    '[The earlier part of this conversation was summarized to make room. The task above stands as it was given. What follows is the summary, then the newest messages as they were.]',
    summary,
  ];
  return (notes === '' ? sections : [...sections, notes]).join('\n\n');
}
