"""A provider of models on loopback: the four wires with plain and streamed answers, faults and random ids.

    provider.py PORT LOG

The address is http://127.0.0.1:PORT/SCENARIO. A scenario is words with `-` between them: `text`, `tool` and `tool2` (one or two
calls of the first tool); `e429`, `e500` and others (a status), `trunc`, `reset`, `hang`, `midstream` (an error in the stream); `gzip`, `crlf`, `bytes`
(pieces of 7 bytes); `rnd` (random ids), `gid` (ids of calls of Gemini), `slow`; `count` (each text has a number of its own), `named`
(a text has the last word of the request that begins with `case-`).
"""

import asyncio, gzip, json, re, sys, time, uuid, itertools, hashlib
PORT, LOG = int(sys.argv[1]), open(sys.argv[2], 'a', buffering=1)
conns = itertools.count(); reqs = itertools.count(); failcount = {}
def j(x): return json.dumps(x, separators=(',', ':'))
def log(**k): LOG.write(json.dumps({'t': round(time.time(), 3), **k}) + '\n')

class Ids:
    def __init__(s, rnd, seed): s.rnd, s.seed, s.n = rnd, seed, 0
    def __call__(s, prefix):
        s.n += 1
        h = uuid.uuid4().hex if s.rnd else hashlib.md5(f'{s.seed}{s.n}'.encode()).hexdigest()
        return prefix + h[:24]
CITIES = ['Paris', 'Rome']
def want_tool(sc): return 2 if 'tool2' in sc else 1 if 'tool' in sc else 0
ARGS = lambda c: j({'city': c})
def pick(names): return names[0] if names else None

def said(raw, sc, n):
    cases = re.findall(r'case-\w+', raw)
    if 'named' in sc and cases: return f'It is sunny for {cases[-1]}.'
    return f'It is sunny, {n}.' if 'count' in sc else 'It is sunny.'

def chat(b, sc, ids, txt):
    tools = [t['function']['name'] for t in b.get('tools') or [] if t.get('type') == 'function']
    done = any(m['role'] == 'tool' for m in b['messages'][max([i for i, m in enumerate(b['messages']) if m['role'] == 'user'] or [0]):])
    n = 0 if done else want_tool(sc)
    base = {'id': ids('chatcmpl-'), 'object': 'chat.completion', 'created': 1760000000, 'model': b['model']}
    usage = {'prompt_tokens': 11, 'completion_tokens': 7, 'total_tokens': 18}
    calls = [{'id': ids('call_'), 'type': 'function', 'function': {'name': pick(tools), 'arguments': ARGS(CITIES[i])}} for i in range(n)] if tools else []
    if b.get('response_format'): txt = j({'answer': 'sunny'})
    if not b.get('stream'):
        msg = {'role': 'assistant', 'content': None if calls else txt}
        if calls: msg['tool_calls'] = calls
        return j({**base, 'choices': [{'index': 0, 'message': msg, 'finish_reason': 'tool_calls' if calls else 'stop'}], 'usage': usage})
    base['object'] = 'chat.completion.chunk'
    ev = []
    def ch(d, fin=None): ev.append('data: ' + j({**base, 'choices': [{'index': 0, 'delta': d, 'finish_reason': fin}]}) + '\n\n')
    ch({'role': 'assistant', 'content': None if calls else ''})
    if calls:
        for i, c in enumerate(calls):
            ch({'tool_calls': [{'index': i, 'id': c['id'], 'type': 'function', 'function': {'name': c['function']['name'], 'arguments': ''}}]})
            a = c['function']['arguments']
            for part in (a[:5], a[5:]): ch({'tool_calls': [{'index': i, 'function': {'arguments': part}}]})
    else:
        for part in (txt[:5], txt[5:]): ch({'content': part})
    ch({}, 'tool_calls' if calls else 'stop')
    if (b.get('stream_options') or {}).get('include_usage'):
        ev.append('data: ' + j({**base, 'choices': [], 'usage': usage}) + '\n\n')
    ev.append('data: [DONE]\n\n')
    return ev

def responses(b, sc, ids, txt):
    inp = b['input'] if isinstance(b['input'], list) else []
    tools = [t['name'] for t in b.get('tools') or [] if t.get('type') == 'function']
    lastu = max([i for i, m in enumerate(inp) if m.get('role') == 'user'] or [0])
    done = any(m.get('type') == 'function_call_output' for m in inp[lastu:])
    n = 0 if done else want_tool(sc)
    rid = ids('resp_')
    items = [{'type': 'function_call', 'id': ids('fc_'), 'call_id': ids('call_'), 'name': pick(tools), 'arguments': ARGS(CITIES[i]), 'status': 'completed'} for i in range(n)] if tools else []
    if not items:
        items = [{'type': 'message', 'id': ids('msg_'), 'role': 'assistant', 'status': 'completed', 'content': [{'type': 'output_text', 'text': txt, 'annotations': []}]}]
    usage = {'input_tokens': 11, 'input_tokens_details': {'cached_tokens': 0}, 'output_tokens': 7, 'output_tokens_details': {'reasoning_tokens': 0}, 'total_tokens': 18}
    def resp(status, out, u): return {'id': rid, 'object': 'response', 'created_at': 1760000000, 'status': status, 'error': None, 'incomplete_details': None, 'instructions': b.get('instructions'), 'model': b['model'], 'output': out, 'parallel_tool_calls': True, 'tool_choice': 'auto', 'tools': [], 'temperature': 1.0, 'top_p': 1.0, 'metadata': {}, 'usage': u}
    if not b.get('stream'): return j(resp('completed', items, usage))
    ev, seq = [], itertools.count()
    def e(t, **k): ev.append(f'event: {t}\ndata: ' + j({'type': t, 'sequence_number': next(seq), **k}) + '\n\n')
    e('response.created', response=resp('in_progress', [], None)); e('response.in_progress', response=resp('in_progress', [], None))
    for i, it in enumerate(items):
        if it['type'] == 'function_call':
            e('response.output_item.added', output_index=i, item={**it, 'arguments': '', 'status': 'in_progress'})
            for p in (it['arguments'][:5], it['arguments'][5:]): e('response.function_call_arguments.delta', item_id=it['id'], output_index=i, delta=p)
            e('response.function_call_arguments.done', item_id=it['id'], output_index=i, arguments=it['arguments'], name=it['name'])
        else:
            e('response.output_item.added', output_index=i, item={**it, 'content': [], 'status': 'in_progress'})
            e('response.content_part.added', item_id=it['id'], output_index=i, content_index=0, part={'type': 'output_text', 'text': '', 'annotations': []})
            for p in (txt[:5], txt[5:]): e('response.output_text.delta', item_id=it['id'], output_index=i, content_index=0, delta=p, logprobs=[])
            e('response.output_text.done', item_id=it['id'], output_index=i, content_index=0, text=txt, logprobs=[])
            e('response.content_part.done', item_id=it['id'], output_index=i, content_index=0, part=it['content'][0])
        e('response.output_item.done', output_index=i, item=it)
    e('response.completed', response=resp('completed', items, usage))
    return ev

def messages(b, sc, ids, txt):
    tools = [t['name'] for t in b.get('tools') or []]
    last = b['messages'][-1]
    done = isinstance(last['content'], list) and any(c.get('type') == 'tool_result' for c in last['content'])
    n = 0 if done else want_tool(sc)
    blocks = [{'type': 'tool_use', 'id': ids('toolu_'), 'name': pick(tools), 'input': {'city': CITIES[i]}} for i in range(n)] if tools else []
    if not blocks: blocks = [{'type': 'text', 'text': txt}]
    stop = 'tool_use' if blocks[0]['type'] == 'tool_use' else 'end_turn'
    msg = {'id': ids('msg_'), 'type': 'message', 'role': 'assistant', 'model': b['model'], 'content': blocks, 'stop_reason': stop, 'stop_sequence': None, 'usage': {'input_tokens': 11, 'output_tokens': 7}}
    if not b.get('stream'): return j(msg)
    ev = []
    def e(t, **k): ev.append(f'event: {t}\ndata: ' + j({'type': t, **k}) + '\n\n')
    e('message_start', message={**msg, 'content': [], 'stop_reason': None, 'usage': {'input_tokens': 11, 'output_tokens': 1}})
    e('ping')
    for i, bl in enumerate(blocks):
        if bl['type'] == 'text':
            e('content_block_start', index=i, content_block={'type': 'text', 'text': ''})
            for p in (bl['text'][:5], bl['text'][5:]): e('content_block_delta', index=i, delta={'type': 'text_delta', 'text': p})
        else:
            e('content_block_start', index=i, content_block={**bl, 'input': {}})
            a = j(bl['input'])
            for p in ('', a[:5], a[5:]): e('content_block_delta', index=i, delta={'type': 'input_json_delta', 'partial_json': p})
        e('content_block_stop', index=i)
    e('message_delta', delta={'stop_reason': stop, 'stop_sequence': None}, usage={'output_tokens': 7})
    e('message_stop')
    return ev

def gemini(b, sc, ids, model, stream, txt):
    tools = [d['name'] for t in b.get('tools') or [] for d in t.get('functionDeclarations') or t.get('function_declarations') or []]
    last = b['contents'][-1]
    done = any('functionResponse' in p or 'function_response' in p for p in last['parts'])
    n = 0 if done else want_tool(sc)
    parts = [{'functionCall': {'name': pick(tools), 'args': {'city': CITIES[i]}, **({'id': ids('fc')} if 'gid' in sc else {})}, **({'thoughtSignature': 'c2lnbmF0dXJl' + ids('')[:8]} if i == 0 else {})} for i in range(n)] if tools else []
    if not parts: parts = [{'text': txt[:6]}, {'text': txt[6:]}] if stream else [{'text': txt}]
    usage = {'promptTokenCount': 11, 'candidatesTokenCount': 7, 'totalTokenCount': 18}
    meta = {'usageMetadata': usage, 'modelVersion': model, 'responseId': ids('')}
    if not stream: return j({'candidates': [{'content': {'role': 'model', 'parts': parts}, 'finishReason': 'STOP', 'index': 0}], **meta})
    ev = []
    for i, p in enumerate(parts):
        c = {'content': {'role': 'model', 'parts': [p]}, 'index': 0}
        if i == len(parts) - 1: c['finishReason'] = 'STOP'
        ev.append('data: ' + j({'candidates': [c], **meta}) + '\r\n\r\n')
    return ev

def err(wire, code, msg='stub says no'):
    if wire in ('chat', 'responses', 'embed'): return j({'error': {'message': msg, 'type': 'rate_limit_error' if code == 429 else 'invalid_request_error' if code < 500 else 'server_error', 'param': None, 'code': 'rate_limit_exceeded' if code == 429 else None}})
    if wire == 'messages': return j({'type': 'error', 'error': {'type': {429: 'rate_limit_error', 400: 'invalid_request_error', 401: 'authentication_error', 529: 'overloaded_error'}.get(code, 'api_error'), 'message': msg}, 'request_id': 'req_stub'})
    return j({'error': {'code': code, 'message': msg, 'status': {400: 'INVALID_ARGUMENT', 401: 'UNAUTHENTICATED', 404: 'NOT_FOUND', 429: 'RESOURCE_EXHAUSTED', 500: 'INTERNAL', 503: 'UNAVAILABLE'}.get(code, 'UNKNOWN')}})

async def handle(r, w):
    cid = next(conns)
    try:
        while True:
            head = await r.readuntil(b'\r\n\r\n')
            lines = head.decode('latin1').split('\r\n'); method, target, ver = lines[0].split(' ')
            hs = [tuple(l.split(': ', 1)) for l in lines[1:] if l]
            h = {k.lower(): v for k, v in hs}
            if h.get('expect', '').lower() == '100-continue': w.write(b'HTTP/1.1 100 Continue\r\n\r\n')
            body = b''; chunked = False
            if 'content-length' in h: body = await r.readexactly(int(h['content-length']))
            elif 'chunked' in h.get('transfer-encoding', ''):
                chunked = True
                while True:
                    n = int((await r.readline()).split(b';')[0], 16); body += await r.readexactly(n); await r.readline()
                    if n == 0: break
            raw = body
            if h.get('content-encoding') == 'gzip': body = gzip.decompress(body)
            n = next(reqs)
            try: b = json.loads(body) if body else None
            except Exception: b = None
            log(n=n, conn=cid, method=method, target=target, ver=ver, headers=hs, chunked=chunked, body=b if b is not None else body[:300].decode('latin1'), raw=raw[:200000].decode('utf8', 'replace'))
            path = target.split('?')[0]; sc = set(path.split('/')[1].split('-'))
            if 'text' not in sc and 'tool' not in sc and 'tool2' not in sc and not any(x[:1] == 'e' or x in ('hang', 'reset', 'trunc') for x in sc): sc.add('text')
            seed = hashlib.md5(body).hexdigest()
            ids, txt = Ids('rnd' in sc, seed), said(body.decode('utf8', 'replace'), sc, n)
            wire = 'chat' if path.endswith('/chat/completions') else 'responses' if path.endswith('/responses') else 'messages' if path.endswith('/messages') else 'gemini' if ':' in path.rsplit('/', 1)[-1] else 'embed' if path.endswith('/embeddings') else None
            code, extra, out = 200, [], None
            ecode = next((x for x in sc if x[0] == 'e' and x[1:4].isdigit()), None)
            if ecode and ('once' not in sc or failcount.setdefault(path, 0) == 0):
                failcount[path] = failcount.get(path, 0) + 1
                code = int(ecode[1:4]); out = err(wire, code)
                if ecode.endswith('ra'): extra.append(('retry-after', '2'))
                if ecode.endswith('ram'): extra.append(('retry-after-ms', '300'))
                if ecode.endswith('rax'): extra.append(('x-should-retry', 'false'))
            elif 'hang' in sc:
                await asyncio.sleep(3600); return
            elif 'reset' in sc:
                w.transport.abort(); return
            elif wire == 'chat': out = chat(b, sc, ids, txt)
            elif wire == 'responses': out = responses(b, sc, ids, txt)
            elif wire == 'messages': out = messages(b, sc, ids, txt)
            elif wire == 'gemini':
                model, verb = path.rsplit('/', 1)[-1].split(':')
                if verb in ('generateContent', 'streamGenerateContent'):
                    out = gemini(b, sc, ids, model, verb[0] == 's', txt)
                    if verb[0] == 's' and 'alt=sse' not in target: out = '[' + ','.join(e[6:].strip() for e in out) + ']'
                elif verb == 'countTokens': out = j({'totalTokens': 11})
                elif verb == 'batchEmbedContents': out = j({'embeddings': [{'values': [0.1, 0.2]} for _ in b['requests']]})
                elif verb in ('embedContent',): out = j({'embedding': {'values': [0.1, 0.2]}})
                elif verb == 'predict': out = j({'predictions': []})
            elif wire == 'embed':
                import base64, struct
                inp = b['input'] if isinstance(b['input'], list) else [b['input']]
                vec = base64.b64encode(struct.pack('<2f', .1, .2)).decode() if b.get('encoding_format') == 'base64' else [.1, .2]
                out = j({'object': 'list', 'data': [{'object': 'embedding', 'index': i, 'embedding': vec} for i in range(len(inp))], 'model': b['model'], 'usage': {'prompt_tokens': 1, 'total_tokens': 1}})
            if out is None: code, out = 404, j({'error': {'message': 'unknown path ' + path}})
            ctype = 'application/json'
            if isinstance(out, list): ctype = 'text/event-stream'
            def hd(extra2): 
                return (f'HTTP/1.1 {code} X\r\ncontent-type: {ctype}\r\n' + ''.join(f'{k}: {v}\r\n' for k, v in extra + extra2) + '\r\n').encode()
            if isinstance(out, list) and 'clen' in sc:
                p = ''.join(out).encode(); w.write(hd([('content-length', len(p))]) + p); await w.drain()
            elif isinstance(out, list) and 'close' in sc:
                w.write(hd([('connection', 'close')]) + ''.join(out).encode()); await w.drain(); w.close(); return
            elif isinstance(out, list):
                if 'crlf' in sc: out = [e.replace('\r\n', '\n').replace('\n', '\r\n') for e in out]
                w.write(hd([('transfer-encoding', 'chunked')]))
                cut = len(out) // 2 if ('trunc' in sc or 'midstream' in sc or 'stall' in sc) else len(out)
                data = ''.join(out).encode() if ('whole' in sc or 'bytes' in sc) else None
                pieces = [data[i:i + 7] for i in range(0, len(data), 7)] if 'bytes' in sc else [data] if data else [e.encode() for e in out[:cut]]
                for p in pieces:
                    w.write(f'{len(p):x}\r\n'.encode() + p + b'\r\n'); await w.drain()
                    if 'slow' in sc: await asyncio.sleep(.05)
                if 'stall' in sc: await asyncio.sleep(3600)
                if 'trunc' in sc: w.transport.abort(); return
                if 'midstream' in sc:
                    p = (('event: error\n' if wire == 'messages' else '') + 'data: ' + err(wire, 529 if wire == 'messages' else 500) + '\n\n').encode()
                    w.write(f'{len(p):x}\r\n'.encode() + p + b'\r\n')
                w.write(b'0\r\n\r\n')
            else:
                p = out.encode(); e2 = []
                if 'gzip' in sc: p = gzip.compress(p); e2.append(('content-encoding', 'gzip'))
                w.write(hd(e2 + [('content-length', str(len(p)))]) + (p[:len(p) // 2] if 'trunc' in sc else p))
                if 'trunc' in sc: await w.drain(); w.close(); return
            await w.drain()
    except (asyncio.IncompleteReadError, ConnectionError): pass
    except Exception as e:
        import traceback; log(fail=traceback.format_exc())
    finally:
        log(conn=cid, closed=True); w.close()
async def main():
    s = await asyncio.start_server(handle, '127.0.0.1', PORT, limit=1 << 24); await s.serve_forever()
asyncio.run(main())
