"""The tools of a session as the tool objects of agent frameworks.

Each module needs its framework and nothing else: :mod:`windlass.adapters.openai_agents`,
:mod:`windlass.adapters.langgraph` and :mod:`windlass.adapters.pydantic_ai`. The libraries of Anthropic and OpenAI need
none: :meth:`Session.tools` and :meth:`Session.results` speak their dialects.
"""
