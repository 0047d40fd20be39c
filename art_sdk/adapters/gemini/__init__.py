"""Google Gemini's generateContent API."""
