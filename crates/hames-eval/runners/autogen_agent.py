"""An agent by AutoGen's AgentChat: one AssistantAgent with tools."""

import asyncio
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import telling  # noqa: E402

try:
    from autogen_agentchat.agents import AssistantAgent
    from autogen_agentchat.messages import TextMessage, ThoughtEvent, ToolCallExecutionEvent, ToolCallRequestEvent
    from autogen_ext.models.openai import OpenAIChatCompletionClient
except ImportError as error:
    telling.missing("AutoGen", error, "pip install autogen-agentchat 'autogen-ext[openai]'")

# A model that AutoGen does not know needs to be described.
ABILITIES = {
    "vision": False,
    "function_calling": True,
    "json_output": True,
    "family": "unknown",
    "structured_output": False,
}


def usage(event):
    used = event.models_usage
    if used is None:
        return None
    return {"input": used.prompt_tokens, "output": used.completion_tokens}


def tell(event, before):
    """`before` is what the model said beside its calls: AutoGen tells it first, as a thought."""
    if isinstance(event, ToolCallRequestEvent):
        calls = [{"id": c.id, "name": c.name, "arguments": c.arguments} for c in event.content]
        telling.say("turn", text=before, calls=calls, usage=usage(event))
    elif isinstance(event, ToolCallExecutionEvent):
        for result in event.content:
            is_error = bool(result.is_error) or telling.failed(result.content)
            telling.say("result", id=result.call_id, text=result.content, is_error=is_error)
    elif isinstance(event, TextMessage) and event.source == "agent":
        telling.say("turn", text=event.content, calls=[], usage=usage(event))


async def main():
    asked = telling.arguments()
    telling.start("autogen", "autogen-agentchat", asked.model)
    chosen = {} if asked.temperature is None else {"temperature": asked.temperature}
    client = OpenAIChatCompletionClient(model=asked.model, model_info=ABILITIES, **chosen)
    agent = AssistantAgent(
        "agent",
        client,
        tools=telling.tools(asked),
        system_message=telling.SYSTEM,
        max_tool_iterations=asked.max_turns,
    )
    last = None
    try:
        async for event in agent.run_stream(task=asked.prompt):
            tell(event, last.content if isinstance(last, ThoughtEvent) else "")
            last = event
    except Exception as error:  # whatever a client raises is the run's end, and is said
        telling.say("error", message=f"{type(error).__name__}: {error}")
        sys.exit(1)
    final = last.messages[-1]
    if not isinstance(final, TextMessage):
        telling.say("error", message=f"the limit of {asked.max_turns} turns was reached")
        sys.exit(1)
    telling.say("end", answer=final.content)


asyncio.run(main())
