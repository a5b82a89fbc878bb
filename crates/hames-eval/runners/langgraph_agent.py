"""An agent as a graph of two nodes, the model and its tools, on LangGraph."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import telling  # noqa: E402

try:
    from langchain_core.messages import SystemMessage
    from langchain_openai import ChatOpenAI
    from langgraph.errors import GraphRecursionError
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition
except ImportError as error:
    telling.missing("LangGraph", error, "pip install langgraph langchain-openai")


def tell(message):
    kind = type(message).__name__
    if kind == "AIMessage":
        used = message.usage_metadata or {}
        details = used.get("input_token_details") or {}
        cached = details.get("cache_read", 0)
        telling.say(
            "turn",
            text=message.text if isinstance(message.text, str) else message.text(),
            calls=[{"id": c["id"], "name": c["name"], "arguments": c["args"]} for c in message.tool_calls],
            usage={
                "input": used.get("input_tokens", 0) - cached,
                "output": used.get("output_tokens", 0),
                "cache_read": cached,
                "reasoning": (used.get("output_token_details") or {}).get("reasoning", 0),
            },
        )
    elif kind == "ToolMessage":
        is_error = message.status == "error" or telling.failed(str(message.content))
        telling.say("result", id=message.tool_call_id, text=str(message.content), is_error=is_error)


def main():
    asked = telling.arguments()
    telling.start("langgraph", "langgraph", asked.model)
    tools = telling.tools(asked)
    model = ChatOpenAI(model=asked.model, temperature=asked.temperature).bind_tools(tools)

    def call_model(state):
        return {"messages": [model.invoke([SystemMessage(telling.SYSTEM), *state["messages"]])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    answer = ""
    try:
        steps = graph.compile().stream(
            {"messages": [("user", asked.prompt)]},
            {"recursion_limit": 2 * asked.max_turns},
            stream_mode="updates",
        )
        for step in steps:
            for update in step.values():
                for message in update["messages"]:
                    tell(message)
                    answer = message.content
    except GraphRecursionError:
        telling.say("error", message=f"the limit of {asked.max_turns} turns was reached")
        sys.exit(1)
    except Exception as error:  # whatever a client raises is the run's end, and is said
        telling.say("error", message=f"{type(error).__name__}: {error}")
        sys.exit(1)
    telling.say("end", answer=answer)


main()
