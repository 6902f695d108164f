/** One line of the model's plan. */
export interface Todo {
  readonly text: string;
  readonly status: 'pending' | 'in_progress' | 'completed';
}
