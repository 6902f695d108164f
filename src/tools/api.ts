/** `surehand/tools`, for modules with tools of one's own. */
export { z } from 'zod';
export { defineTool } from './define-tool';
export type { OwnTool, OwnToolContext, OwnToolOutput, ToolApi } from './define-tool';
