"""An agent by the Claude Agent SDK: Claude Code's loop, with its own bash and file tools."""

import asyncio
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import telling  # noqa: E402

try:
    from claude_agent_sdk import (
        AssistantMessage,
        ClaudeAgentOptions,
        ResultMessage,
        TextBlock,
        ThinkingBlock,
        ToolResultBlock,
        ToolUseBlock,
        UserMessage,
        create_sdk_mcp_server,
        query,
        tool,
    )
except ImportError as error:
    telling.missing("the Claude Agent SDK", error, "pip install claude-agent-sdk")


@tool("get_weather", "查天气", {"city": str})
async def get_weather(given):
    return {"content": [{"type": "text", "text": telling.get_weather(given["city"])}]}


def options(asked):
    chosen = {
        "model": asked.model,
        "max_turns": asked.max_turns,
        "permission_mode": "bypassPermissions",
        "setting_sources": [],
        "cwd": os.getcwd(),
    }
    if asked.demo:
        chosen["mcp_servers"] = {"weather": create_sdk_mcp_server("weather", tools=[get_weather])}
        chosen["allowed_tools"] = ["mcp__weather__get_weather"]
    else:
        chosen["allowed_tools"] = ["Bash", "Read", "Write", "Edit", "Glob", "Grep"]
    return ClaudeAgentOptions(**chosen)


def text_of(content):
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def counted(used):
    used = used or {}
    return {
        "input": used.get("input_tokens", 0),
        "output": used.get("output_tokens", 0),
        "cache_read": used.get("cache_read_input_tokens", 0),
        "cache_write": used.get("cache_creation_input_tokens", 0),
    }


def tell(message):
    """Whether the run has failed; a message comes in several parts, which its id holds together."""
    if isinstance(message, AssistantMessage):
        blocks = message.content
        thoughts = [block.thinking for block in blocks if isinstance(block, ThinkingBlock)]
        if thoughts:
            telling.say("thought", text="\n".join(thoughts))
        text = "\n".join(block.text for block in blocks if isinstance(block, TextBlock))
        calls = [
            {"id": block.id, "name": block.name, "arguments": block.input}
            for block in blocks
            if isinstance(block, ToolUseBlock)
        ]
        if text or calls:
            used = counted(getattr(message, "usage", None))
            part_of = f"{getattr(message, 'message_id', '')}/{used['input'] + used['cache_read']}"
            telling.say("turn", part_of=part_of, text=text, calls=calls, usage=used)
    elif isinstance(message, UserMessage) and isinstance(message.content, list):
        for block in message.content:
            if isinstance(block, ToolResultBlock):
                telling.say(
                    "result",
                    id=block.tool_use_id,
                    text=text_of(block.content),
                    is_error=bool(block.is_error),
                )
    elif isinstance(message, ResultMessage):
        telling.say("total", usage=counted(message.usage), cost=message.total_cost_usd)
        if message.is_error:
            telling.say("error", message=message.result or message.subtype)
            return True
        telling.say("end", answer=message.result or "")
    return False


async def main():
    asked = telling.arguments()
    telling.start("claude-agent-sdk", "claude-agent-sdk", asked.model)
    failed = False
    try:
        async for message in query(prompt=asked.prompt, options=options(asked)):
            failed = tell(message) or failed
    except Exception as error:  # whatever the SDK raises is the run's end, and is said
        if not failed:
            telling.say("error", message=f"{type(error).__name__}: {error}")
        failed = True
    sys.exit(1 if failed else 0)


asyncio.run(main())
