#!/usr/bin/env python3
"""A relay between a program and the gateway.

    relay.py LOG COMMAND [ARGUMENT ..]

The command runs with the addresses of models and of the proxy for TLS changed to the relay's own. LOG gets a line for each
request: the time, and the path or the host.
"""

import asyncio
import os
import re
import sys
import time

LOG, COMMAND = sys.argv[1], sys.argv[2:]
# The proxy for hosts without TLS is left to lead to the gateway itself.
IS_ADDRESS = re.compile(r"[A-Z_]+_(BASE_URL|API_BASE|API_URL)$|HTTPS_PROXY$|https_proxy$")


async def copy(reader, writer):
    try:
        while chunk := await reader.read(65536):
            writer.write(chunk)
            await writer.drain()
    except ConnectionError:
        pass
    finally:
        # Broken off as the gateway broke it off, or closed.
        writer.close()


class Relay:
    def __init__(self, host, port):
        self.host, self.port = host, port

    async def serve(self, reader, writer):
        gateway_reader, gateway_writer = await asyncio.open_connection(self.host, self.port)
        answers = asyncio.create_task(copy(gateway_reader, writer))
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin1")
                with open(LOG, "a") as file:
                    file.write(f"{time.time()} {head.split(' ', 2)[1]}\n")
                if head.startswith("CONNECT "):
                    # What follows, if the gateway lets it, is for the other host.
                    gateway_writer.write(head.encode("latin1"))
                    return await copy(reader, gateway_writer)
                length = re.search(r"(?im)^content-length: *(\d+)", head)
                body = await reader.readexactly(int(length[1]) if length else 0)
                # The gateway answers to its own name alone.
                head = re.sub(r"(?im)^host: .*?\r$", f"host: {self.host}:{self.port}\r", head)
                gateway_writer.write(head.encode("latin1") + body)
                await gateway_writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            gateway_writer.close()
            await answers


async def main():
    addresses = {name: value for name, value in os.environ.items() if IS_ADDRESS.match(name) and "127.0.0.1" in value}
    host, port = re.match(r"http://([^:/]+):(\d+)", addresses["OPENAI_BASE_URL"]).groups()
    server = await asyncio.start_server(Relay(host, int(port)).serve, "127.0.0.1", 0, limit=1 << 26)
    own = server.sockets[0].getsockname()[1]
    environment = os.environ | {name: value.replace(f"{host}:{port}", f"{host}:{own}") for name, value in addresses.items()}
    child = await asyncio.create_subprocess_exec(*COMMAND, env=environment)
    sys.exit(await child.wait())


asyncio.run(main())
