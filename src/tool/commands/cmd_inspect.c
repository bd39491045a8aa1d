/* mw inspect: a compiled program of the ANE, words of one, and the versions of its tasks. */
#include "base/file/file.h"
#include "tool/commands/commands.h"

#include <millwright/chip_all.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_MOST = 1 << 26 };

static struct {
    long long words;
    bool versions;
} o;

const tool_option tool_inspect_options[] = {
    {"words", 'w', TOOL_INTEGER, &o.words, "FILE is text: words of tasks of this version, in hexadecimal (24: M6)",
     .argument = "VERSION", .low = 1, .high = 255},
    {"versions", '\0', TOOL_FLAG, &o.versions, "the versions of tasks, and what is known of each; no FILE",
     .argument = NULL},
    TOOL_OPTIONS_END,
};

/* ---- versions ---- */

static void say_version(const mw_hwx_version *v, mw__json_writer *json)
{
    if (json == NULL) {
        char order[24] = "?";
        if (v->order != 0)
            snprintf(order, sizeof order, "%u", v->order);
        tool_print("%2u  v%-3u order %-3s %s\n", v->subtype, v->version, order, v->targets);
        if (v->words[0] != '\0')
            tool_print("    registers: %s\n", v->words);
        tool_print("    known: %s\n", v->known);
        return;
    }
    mw__json_open(json, NULL, '{');
    mw__json_add_integer(json, "subtype", v->subtype);
    mw__json_add_integer(json, "version", v->version);
    mw__json_add_integer(json, "order", v->order);
    mw__json_add_string(json, "targets", v->targets);
    mw__json_add_string(json, "registers", v->words);
    mw__json_add_string(json, "known", v->known);
    mw__json_close(json, '}');
}

static int say_versions(const tool_call *call)
{
    if (call->json != NULL)
        mw__json_open(call->json, "versions", '[');
    for (size_t i = 0; mw_hwx_version_at(i) != NULL; i++)
        say_version(mw_hwx_version_at(i), call->json);
    if (call->json != NULL)
        mw__json_close(call->json, ']');
    return TOOL_DONE;
}

/* ---- words ---- */

static bool add_word(const char **at, uint32_t *out)
{
    char *end;
    const unsigned long long word = strtoull(*at, &end, 16);
    const bool good =
        isxdigit((unsigned char)**at) && word <= UINT32_MAX && (*end == '\0' || isspace((unsigned char)*end));
    *out = (uint32_t)word;
    *at = end;
    return good;
}

/* Words between blanks; the number of them, -1 after a complaint. out: one for each second byte at most. */
static int64_t read_words(const char *path, const char *text, size_t size, uint32_t *out)
{
    int64_t count = 0;
    for (const char *at = text; at += strspn(at, " \t\r\n"), *at != '\0' && at < text + size;)
        if (!add_word(&at, &out[count++])) {
            tool_complain("%s: word %lld is no hexadecimal number of 32 bits", path, (long long)count);
            return -1;
        }
    return count;
}

static mw_hwx *open_words(const tool_call *call)
{
    const mw_allocator *heap = mw__allocator_or_default(NULL);
    const char *path = call->arguments[0];
    char *text = NULL;
    size_t size = 0;
    if (mw__file_read(heap, path, TEXT_MOST, &text, &size, call->err) != MW_OK)
        return NULL;
    uint32_t *words = mw__alloc(heap, size / 2 + 1, sizeof *words, call->err);
    const int64_t count = words != NULL ? read_words(path, text, size, words) : -1;
    mw_hwx *hwx = count >= 0 ? mw_hwx_parse_words(words, (size_t)count, (uint32_t)o.words, NULL, call->err) : NULL;
    mw__free(heap, words);
    mw__free(heap, text);
    return hwx;
}

/* ---- all ---- */

int tool_inspect(const tool_call *call)
{
    if (o.versions && TOOL_REFUSE("with --versions, which reads no file", "words"))
        return TOOL_USAGE;
    if (o.versions != (call->count == 0)) {
        tool_complain(o.versions ? "--versions reads no file" : "a file is needed, or --versions");
        return TOOL_USAGE;
    }
    if (o.versions)
        return say_versions(call);
    mw_hwx *hwx = o.words != 0 ? open_words(call) : mw_hwx_open(call->arguments[0], call->err);
    char *text = hwx != NULL ? (call->json != NULL ? mw_hwx_json : mw_hwx_text)(hwx, call->err) : NULL;
    if (call->json != NULL)
        mw__json_add_raw(call->json, "file", text);
    else
        tool_puts(text != NULL ? text : "");
    mw_string_free(text);
    mw_hwx_destroy(hwx);
    return text != NULL ? TOOL_DONE : TOOL_FAILED;
}
