"""An agent by LangChain's `create_agent`: its prebuilt loop, with middleware that counts model calls."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import telling  # noqa: E402

try:
    from langchain.agents import create_agent
    from langchain.agents.middleware import ModelCallLimitMiddleware
    from langchain_openai import ChatOpenAI
except ImportError as error:
    telling.missing("LangChain", error, "pip install langchain langchain-openai")


def tell(message):
    if message.type == "ai":
        used = message.usage_metadata or {}
        cached = (used.get("input_token_details") or {}).get("cache_read", 0)
        telling.say(
            "turn",
            text=message.content if isinstance(message.content, str) else "",
            calls=[{"id": c["id"], "name": c["name"], "arguments": c["args"]} for c in message.tool_calls],
            usage={
                "input": used.get("input_tokens", 0) - cached,
                "output": used.get("output_tokens", 0),
                "cache_read": cached,
                "reasoning": (used.get("output_token_details") or {}).get("reasoning", 0),
            },
        )
    elif message.type == "tool":
        is_error = message.status == "error" or telling.failed(str(message.content))
        telling.say("result", id=message.tool_call_id, text=str(message.content), is_error=is_error)


def main():
    asked = telling.arguments()
    telling.start("langchain", "langchain", asked.model)
    agent = create_agent(
        ChatOpenAI(model=asked.model, temperature=asked.temperature),
        telling.tools(asked),
        system_prompt=telling.SYSTEM,
        middleware=[ModelCallLimitMiddleware(run_limit=asked.max_turns, exit_behavior="error")],
    )
    answer = ""
    try:
        # The cap is the middleware's; the graph's own must not come first.
        limit = {"recursion_limit": 10 * asked.max_turns + 10}
        for step in agent.stream({"messages": [("user", asked.prompt)]}, limit, stream_mode="updates"):
            for update in step.values():
                for message in (update or {}).get("messages", []):
                    tell(message)
                    answer = message.content
    except Exception as error:  # whatever a client raises is the run's end, and is said
        telling.say("error", message=f"{type(error).__name__}: {error}")
        sys.exit(1)
    telling.say("end", answer=answer)


main()
