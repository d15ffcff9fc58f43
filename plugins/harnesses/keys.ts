/**
 * Keys that open a model and nothing else, for the CLIs that speak to any provider. A key that also opens a repository
 * or an account (`GITHUB_TOKEN`, `AWS_SECRET_ACCESS_KEY`) reaches sessions only when `harness.env` names it.
 */
export const providerKeys: readonly string[] = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_BASE_URL',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'OPENROUTER_API_KEY',
  'GEMINI_API_KEY',
  'GOOGLE_GENERATIVE_AI_API_KEY',
  'GOOGLE_CLOUD_PROJECT',
  'GROQ_API_KEY',
  'MISTRAL_API_KEY',
  'DEEPSEEK_API_KEY',
  'XAI_API_KEY',
  'MOONSHOT_API_KEY',
  'ZHIPU_API_KEY',
  'CEREBRAS_API_KEY',
  'TOGETHER_API_KEY',
  'FIREWORKS_API_KEY',
  'AZURE_API_KEY',
  'AZURE_RESOURCE_NAME',
  'AWS_REGION',
  'AWS_BEARER_TOKEN_BEDROCK',
]
