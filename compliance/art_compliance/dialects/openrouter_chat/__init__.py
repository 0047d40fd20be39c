"""`openrouter-chat`: OpenRouter's chat completions. Only its rules are here; it is decoded as `openai-chat`."""
