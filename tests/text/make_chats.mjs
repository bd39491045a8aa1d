// Conversations as texts, by the Jinja engine of Hugging Face: vectors for tests/text/test_chats.c.
// usage: node tests/text/make_chats.mjs MODULES > tests/text/chats.jsonl
// MODULES is a node_modules folder with @huggingface/jinja (0.5.11). A line is the name of a form, its template, bos,
// eos, the messages and the text. The templates say in few words what those of the models say; with more arguments,
// tokenizer_config.json files, their own templates are rendered, under the name that each file is given:
//     node tests/text/make_chats.mjs MODULES chatml=PATH/tokenizer_config.json
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const { Template } = createRequire(process.argv[2] + "/")("@huggingface/jinja");

const turns = "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('turns') }}{% endif %}";
const forms = {
  chatml: [
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}{% endfor %}",
    "{% for m in messages %}{% if loop.first and m.role != 'system' %}" +
      "{{ '<|im_start|>system\\nBe brief.<|im_end|>\\n' }}{% endif %}" +
      "{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' + '\\n' }}{% endfor %}",
  ],
  "llama-2": [
    "{% if messages[0].role == 'system' %}{% set rest = messages[1:] %}{% set head = messages[0].content %}" +
      "{% else %}{% set rest = messages %}{% set head = false %}{% endif %}{% for m in rest %}" + turns +
      "{% if loop.index0 == 0 and head != false %}" +
      "{% set words = '<<SYS>>\\n' + head + '\\n<</SYS>>\\n\\n' + m.content %}{% else %}{% set words = m.content %}" +
      "{% endif %}{% if m.role == 'user' %}{{ bos_token + '[INST] ' + words.strip() + ' [/INST]' }}" +
      "{% else %}{{ ' ' + words.strip() + ' ' + eos_token }}{% endif %}{% endfor %}",
  ],
  "llama-3": [
    "{% for m in messages %}{% set words = '<|start_header_id|>' + m.role + '<|end_header_id|>\\n\\n' + " +
      "m.content | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set words = bos_token + words %}{% endif %}" +
      "{{ words }}{% endfor %}",
  ],
  gemma: [
    "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}" +
      "{% for m in messages %}" + turns + "{% set who = 'model' if m.role == 'assistant' else m.role %}" +
      "{{ '<start_of_turn>' + who + '\\n' + m.content | trim + '<end_of_turn>\\n' }}{% endfor %}",
  ],
  mistral: [
    "{{ bos_token }}{% for m in messages %}" + turns + "{% if m.role == 'user' %}" +
      "{{ '[INST] ' + m.content + ' [/INST]' }}{% elif m.role == 'assistant' %}{{ m.content + eos_token }}" +
      "{% else %}{{ raise_exception('roles') }}{% endif %}{% endfor %}",
    "{{ bos_token }}{% for m in messages %}" + turns + "{% if m.role == 'user' %}" +
      "{{ '[INST] ' + m.content + ' [/INST]' }}{% elif m.role == 'assistant' %}{{ m.content + eos_token + ' ' }}" +
      "{% else %}{{ raise_exception('roles') }}{% endif %}{% endfor %}",
  ],
  zephyr: [
    "{% for m in messages %}\n{% if m.role == 'user' %}\n{{ '<|user|>\\n' + m.content + eos_token }}\n" +
      "{% elif m.role == 'system' %}\n{{ '<|system|>\\n' + m.content + eos_token }}\n" +
      "{% elif m.role == 'assistant' %}\n{{ '<|assistant|>\\n' + m.content + eos_token }}\n{% endif %}\n{% endfor %}",
  ],
};

const say = (role, content) => ({ role, content });
const talks = [
  [say("user", "Hi"), say("assistant", "Hello there.")],
  [say("user", "  two spaces \n"), say("assistant", "\tand a tab\n\n"), say("user", "x"), say("assistant", "")],
  [say("system", "You are a pirate.\n"), say("user", " Where? "), say("assistant", "Arr, über dort 海 🏴‍☠️")],
  [say("user", "{{ not run }} 'quoted' \"twice\" \\n"), say("assistant", "a\nb\r\nc"), say("user", "last")],
  [say("system", "s"), say("user", ""), say("assistant", " ")],
  [say("assistant", "I begin."), say("user", "No.")],
  [say("user", "one"), say("user", "two")],
];

function render(name, template, bos, eos) {
  for (const messages of talks) {
    let text = null;
    try {
      text = new Template(template).render({ messages, bos_token: bos, eos_token: eos });
    } catch {
      // what the template refuses is refused here, too
    }
    console.log(JSON.stringify({ name, template, bos, eos, messages, text }));
  }
}

const content = (token) => (typeof token === "object" && token !== null ? token.content : token ?? "");
if (process.argv.length > 3) {
  for (const pair of process.argv.slice(3)) {
    const [name, path] = pair.split("=");
    const config = JSON.parse(readFileSync(path, "utf8"));
    render(name, config.chat_template, content(config.bos_token), content(config.eos_token));
  }
} else {
  for (const [name, templates] of Object.entries(forms))
    for (const template of templates) render(name, template, "<s>", "</s>");
}
