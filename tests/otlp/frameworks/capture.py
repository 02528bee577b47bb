"""Traces of this process in `traces.jsonl`, by the exporter that docs/traces.md shows, and records of logs in `logs.jsonl`."""

import re
import sys
from pathlib import Path

from google.protobuf.json_format import MessageToJson
from opentelemetry._logs import set_logger_provider
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import LogRecordExporter, LogRecordExportResult, SimpleLogRecordProcessor

STORY, *OPTIONS = sys.argv[1:]

page = Path(__file__).resolve().parents[3] / "docs" / "traces.md"
shown = {}
exec(re.search(r"```python\n(.*?)```", page.read_text(), re.DOTALL).group(1), shown)
provider, trace = shown["provider"], shown["trace"]


class Logs(LogRecordExporter):
    def export(self, batch):
        with open("logs.jsonl", "a") as file:
            file.write(MessageToJson(encode_logs(batch), indent=None) + "\n")
        return LogRecordExportResult.SUCCESS

    def shutdown(self):
        pass

    def force_flush(self, timeout_millis=30000):
        return True


logs = LoggerProvider()
logs.add_log_record_processor(SimpleLogRecordProcessor(Logs()))
set_logger_provider(logs)
