"""An account checker: a plain A2A 1.0 agent (JSON-RPC), Python standard library only.

Twin of checker.mjs. Prints {"url": …} once it listens.

    python3 checker.py [--port N] [--host H] [--delay-ms N]
"""

import argparse
import json
import os
import re
import signal
import sys
import threading
import uuid
from collections import OrderedDict
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.dont_write_bytecode = True  # a checkout is not a place for cache files

from check import check  # noqa: E402

BODY_LIMIT = 1_048_576
ITEMS_LIMIT = 1000
TEXT_LIMIT = 10_000
ID_LIMIT = 128
TASKS_LIMIT = 1000

TERMINAL = {f"TASK_STATE_{name}" for name in ("COMPLETED", "FAILED", "CANCELED", "REJECTED")}
STATES = TERMINAL | {
    f"TASK_STATE_{name}"
    for name in ("UNSPECIFIED", "SUBMITTED", "WORKING", "INPUT_REQUIRED", "AUTH_REQUIRED")
}
WITHOUT_SUPPORT = {
    "SendStreamingMessage": -32004,
    "SubscribeToTask": -32004,
    "GetExtendedAgentCard": -32004,
    "CreateTaskPushNotificationConfig": -32003,
    "GetTaskPushNotificationConfig": -32003,
    "ListTaskPushNotificationConfigs": -32003,
    "DeleteTaskPushNotificationConfig": -32003,
}
REASONS = {
    -32001: "TASK_NOT_FOUND",
    -32002: "TASK_NOT_CANCELABLE",
    -32003: "PUSH_NOTIFICATION_NOT_SUPPORTED",
    -32004: "UNSUPPORTED_OPERATION",
    -32009: "VERSION_NOT_SUPPORTED",
}
TRANSACTION_FIELDS = [
    "transaction_id",
    "card",
    "amount",
    "category",
    "merchant",
    "date",
    "status",
    "rewards_earned",
]


class RpcError(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code
        self.message = message


class Unworkable(Exception):
    """The data of a message can't be worked on."""


def invalid(message):
    return RpcError(-32602, message)


def is_text(value, limit=TEXT_LIMIT):
    # Counted as UTF-16 units, as the twin counts.
    return isinstance(value, str) and len(value.encode("utf-16-le", "surrogatepass")) // 2 <= limit


def is_whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def optional_id(value, name):
    if value is None or value == "":
        return None
    if not is_text(value, ID_LIMIT):
        raise invalid(f"{name} must be a string of at most {ID_LIMIT} characters")
    return value


def now():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def moment(text):
    try:
        parsed = datetime.fromisoformat(re.sub(r"[zZ]$", "+00:00", text))
    except (TypeError, ValueError):
        raise invalid("statusTimestampAfter is no time") from None
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)


class Task:
    def __init__(self, message, context_id):
        self.id = str(uuid.uuid4())
        self.context_id = context_id
        self.history = [{**message, "contextId": context_id, "taskId": self.id}]
        self.artifacts = []
        self.order = 0
        self.status = {}
        self.done = threading.Event()


def records(value, name, fields, optional=()):
    """Checks a list of records; raises the reason why the data can't be worked on."""
    if not isinstance(value, list):
        raise Unworkable(f"{name} must be an array")
    if len(value) > ITEMS_LIMIT:
        raise Unworkable(f"{name} holds more than {ITEMS_LIMIT} items")
    read = []
    for index, item in enumerate(value):
        if not isinstance(item, dict):
            raise Unworkable(f"{name}[{index}] must be an object")
        wanted = [*fields, *(field for field in optional if field in item)]
        for field in wanted:
            if not is_text(item.get(field)):
                raise Unworkable(f"{name}[{index}].{field} must be a string")
        read.append({field: item[field] for field in wanted})
    return read


def read_work(parts):
    """The transactions, terms and cards of a message's data parts."""
    data = [part["data"] for part in parts if isinstance(part.get("data"), dict)]

    def pick(name):
        return next((one[name] for one in data if name in one), None)

    if pick("transactions") is None or pick("terms") is None:
        raise Unworkable("Send a data part with transactions and a data part with terms")
    cards = pick("cards")
    return (
        records(pick("transactions"), "transactions", TRANSACTION_FIELDS),
        records(pick("terms"), "terms", ["documentId", "quote"], ["card"]),
        records([] if cards is None else cards, "cards", ["card", "opened"]),
    )


def read_message(params):
    message = params.get("message")
    if not isinstance(message, dict):
        raise invalid("message must be an object")
    message_id = message.get("messageId")
    if not is_text(message_id, ID_LIMIT) or message_id == "":
        raise invalid(f"messageId must be a string of 1 to {ID_LIMIT} characters")
    if message.get("role") != "ROLE_USER":
        raise invalid("role must be ROLE_USER")
    parts = message.get("parts")
    if not isinstance(parts, list) or not parts or not all(isinstance(p, dict) for p in parts):
        raise invalid("parts must be a non-empty array of objects")
    configuration = params.get("configuration")
    configuration = {} if configuration is None else configuration
    if not isinstance(configuration, dict):
        raise invalid("configuration must be an object")
    return message, configuration


class Agent:
    def __init__(self, delay_ms):
        self.delay = delay_ms / 1000
        self.lock = threading.RLock()
        self.tasks = OrderedDict()
        self.contexts = set()
        self.by_message = {}
        self.order = 0

    def set_status(self, task, state, text=None):
        self.order += 1
        task.order = self.order
        task.status = {"state": state, "timestamp": now()}
        if text is not None:
            task.status["message"] = {
                "messageId": str(uuid.uuid4()),
                "contextId": task.context_id,
                "taskId": task.id,
                "role": "ROLE_AGENT",
                "parts": [{"text": text, "mediaType": "text/plain"}],
            }
        if state != "TASK_STATE_WORKING":
            task.done.set()

    def context_for(self, message):
        context_id = optional_id(message.get("contextId"), "contextId")
        task_id = optional_id(message.get("taskId"), "taskId")
        if task_id is not None:
            task = self.tasks.get(task_id)
            if task is None:
                raise RpcError(-32001, "Task not found")
            if context_id is not None and context_id != task.context_id:
                raise invalid("contextId is not the one of this task")
            raise RpcError(
                -32004, "This agent takes one message per task; send a new one in the same context"
            )
        if context_id is None:
            return str(uuid.uuid4())
        if context_id not in self.contexts:
            raise invalid("contextId is not known here; leave it out to get one")
        return context_id

    def finish(self, task, work):
        try:
            data = check(*work)
        except Exception:  # noqa: BLE001 - whatever goes wrong must end the task
            data = None
        with self.lock:
            if task.status["state"] in TERMINAL:
                return
            if data is None:
                self.set_status(task, "TASK_STATE_FAILED", "The check failed inside this agent")
                return
            task.artifacts = [
                {
                    "artifactId": str(uuid.uuid4()),
                    "name": "recomputed rewards",
                    "parts": [{"data": data, "mediaType": "application/json"}],
                }
            ]
            self.set_status(task, "TASK_STATE_COMPLETED")

    def start(self, message):
        task = Task(message, self.context_for(message))
        try:
            work = read_work(message["parts"])
            self.set_status(task, "TASK_STATE_WORKING")
            timer = threading.Timer(self.delay, self.finish, (task, work))
            timer.daemon = True
            timer.start()
        except Unworkable as error:
            self.set_status(task, "TASK_STATE_REJECTED", str(error))
        self.contexts.add(task.context_id)
        self.tasks[task.id] = task
        self.by_message[message["messageId"]] = task
        if len(self.tasks) > TASKS_LIMIT:
            _, oldest = self.tasks.popitem(last=False)
            self.by_message.pop(oldest.history[0]["messageId"], None)
            if all(one.context_id != oldest.context_id for one in self.tasks.values()):
                self.contexts.discard(oldest.context_id)
        return task

    def shown(self, task, params, with_artifacts):
        length = params.get("historyLength")
        if length is not None and (not is_whole(length) or length < 0):
            raise invalid("historyLength must be a whole number")
        wire = {"id": task.id, "contextId": task.context_id, "status": task.status}
        if with_artifacts and task.artifacts:
            wire["artifacts"] = task.artifacts
        if length != 0:
            wire["history"] = task.history[-length:] if length else task.history
        return wire

    def task_of(self, params):
        task_id = optional_id(params.get("id"), "id")
        task = None if task_id is None else self.tasks.get(task_id)
        if task is None:
            raise RpcError(-32001, "Task not found")
        return task

    def send_message(self, params):
        message, configuration = read_message(params)
        with self.lock:
            task = self.by_message.get(message["messageId"]) or self.start(message)
        if configuration.get("returnImmediately") is not True:
            task.done.wait()
        with self.lock:
            return {"task": self.shown(task, configuration, True)}

    def get_task(self, params):
        with self.lock:
            return self.shown(self.task_of(params), params, True)

    def cancel_task(self, params):
        with self.lock:
            task = self.task_of(params)
            if task.status["state"] in TERMINAL:
                raise RpcError(-32002, "The task has ended")
            self.set_status(task, "TASK_STATE_CANCELED")
            return self.shown(task, params, True)

    def list_tasks(self, params):
        size = params.get("pageSize")
        size = 50 if size is None else size
        if not is_whole(size) or not 1 <= size <= 100:
            raise invalid("pageSize must be 1 to 100")
        status = params.get("status") or ""
        if status != "" and (not isinstance(status, str) or status not in STATES):
            raise invalid("status is no task state")
        after = params.get("statusTimestampAfter") or ""
        after = None if after == "" else moment(after)
        context_id = optional_id(params.get("contextId"), "contextId")
        token = optional_id(params.get("pageToken"), "pageToken")
        with self.lock:
            found = [
                task
                for task in self.tasks.values()
                if context_id in (None, task.context_id)
                and status in ("", "TASK_STATE_UNSPECIFIED", task.status["state"])
                and (after is None or moment(task.status["timestamp"]) >= after)
            ]
            found.sort(key=lambda task: -task.order)
            ids = [task.id for task in found]
            if token is not None and token not in ids:
                raise invalid("pageToken is not known here")
            first = 0 if token is None else ids.index(token) + 1
            page = found[first : first + size]
            artifacts = params.get("includeArtifacts") is True
            return {
                "tasks": [self.shown(task, params, artifacts) for task in page],
                "nextPageToken": page[-1].id if first + size < len(found) else "",
                "pageSize": size,
                "totalSize": len(found),
            }

    def call(self, request, version):
        if (
            not isinstance(request, dict)
            or request.get("jsonrpc") != "2.0"
            or not isinstance(request.get("method"), str)
        ):
            raise RpcError(-32600, "Not a JSON-RPC 2.0 request")
        identifier = request.get("id", ...)
        if not (identifier is None or is_identifier(identifier)):
            raise RpcError(-32600, "id must be a string, a number or null")
        method = request["method"]
        if method in WITHOUT_SUPPORT:
            raise RpcError(WITHOUT_SUPPORT[method], f"{method} is not supported")
        handler = {
            "SendMessage": self.send_message,
            "GetTask": self.get_task,
            "ListTasks": self.list_tasks,
            "CancelTask": self.cancel_task,
        }.get(method)
        if handler is None:
            raise RpcError(-32601, "Method not found")
        if version != "1.0":
            raise RpcError(-32009, "This agent speaks A2A 1.0 only")
        params = request.get("params")
        params = {} if params is None else params
        if not isinstance(params, dict):
            raise invalid("params must be an object")
        return handler(params)


def is_identifier(value):
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def card(url):
    return {
        "name": "Account checker",
        "description": "Recomputes card rewards for transactions against quoted card terms.",
        "version": "1.0.0",
        "supportedInterfaces": [
            {"url": f"{url}/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        ],
        "capabilities": {
            "streaming": False,
            "pushNotifications": False,
            "extendedAgentCard": False,
        },
        "defaultInputModes": ["application/json", "text/plain"],
        "defaultOutputModes": ["application/json"],
        "skills": [
            {
                "id": "recompute-rewards",
                "name": "Recompute rewards",
                "description": "Takes a data part with transactions (and cards with the day they "
                "were opened) and a data part with terms ({documentId, quote}); returns the "
                "transactions credited wrongly, each with its rule.",
                "tags": ["rewards", "cash back", "audit"],
            }
        ],
    }


def failure(identifier, code, message):
    error = {"code": code, "message": message}
    if code in REASONS:
        error["data"] = [
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": REASONS[code],
                "domain": "a2a-protocol.org",
            }
        ]
    return {"jsonrpc": "2.0", "id": identifier, "error": error}


def no_constant(name):
    raise ValueError(name)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Requests hold customers' data: nothing of them is written anywhere."""

    def reply(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if self.close_connection:
            self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        path = self.path.split("?")[0]
        if path == "/.well-known/agent-card.json":
            self.reply(200, card(self.server.url))
        elif path == "/":
            self.reply(405, {"error": "Use POST"})
        else:
            self.reply(404, {"error": "Not found"})

    def body(self):
        """The request's body; None when it is over the limit or has no stated length."""
        length = self.headers.get("content-length", "")
        if not re.fullmatch(r"[0-9]{1,9}", length) or int(length) > BODY_LIMIT:
            return None
        return self.rfile.read(int(length))

    def do_POST(self):
        body = self.body()
        if body is None:
            self.close_connection = True
            self.reply(413, failure(None, -32600, "Body over the limit of 1 MiB"))
            return
        if self.path.split("?")[0] != "/":
            self.reply(404, {"error": "Not found"})
            return
        if not re.match(r"application/json\b", self.headers.get("content-type", ""), re.IGNORECASE):
            self.reply(415, {"error": "Use application/json"})
            return
        self.reply(200, self.answer(body))

    def answer(self, body):
        identifier = None
        try:
            try:
                request = json.loads(body.decode("utf-8"), parse_constant=no_constant)
            except (ValueError, RecursionError):
                raise RpcError(-32700, "Not JSON") from None
            if isinstance(request, dict) and is_identifier(request.get("id")):
                identifier = request["id"]
            result = self.server.agent.call(request, self.headers.get("a2a-version"))
            return {"jsonrpc": "2.0", "id": identifier, "result": result}
        except RpcError as error:
            return failure(identifier, error.code, error.message)
        except Exception:  # noqa: BLE001 - a fault in here must not show its insides
            return failure(identifier, -32603, "Internal error")


class Server(ThreadingHTTPServer):
    daemon_threads = True


def main():
    parser = argparse.ArgumentParser(description="Account checker, a plain A2A 1.0 agent")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--delay-ms", type=int, default=int(os.environ.get("CHECKER_DELAY_MS", "0")))
    options = parser.parse_args()
    server = Server((options.host, options.port), Handler)
    server.agent = Agent(options.delay_ms)
    server.url = f"http://{options.host}:{server.server_address[1]}"
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    print(json.dumps({"url": server.url}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
