/* mw tokens: texts as the tokens of a language model, and back. */
#include "base/file/file.h"
#include "base/number/number.h"
#include "base/text/error.h"
#include "base/text/text.h"
#include "tool/commands/commands.h"

#include <millwright/text.h>
#include <string.h>

static struct {
    const char *file, *out, *chat, *pattern, **special;
    long long train;
    bool decode, numbers, no_special, special_as_text;
} o;

const tool_option tool_tokens_options[] = {
    {"file", 'f', TOOL_TEXT, &o.file, "the text of this file, instead of TEXT", .argument = "FILE"},
    {"decode", '\0', TOOL_FLAG, &o.decode, "TEXT is numbers of tokens: print what they say", .argument = NULL},
    {"numbers", 'n', TOOL_FLAG, &o.numbers, "the numbers alone, in one line", .argument = NULL},
    {"no-special", '\0', TOOL_FLAG, &o.no_special, "without what is put around a text, such as <s>", .argument = NULL},
    {"special-as-text", '\0', TOOL_FLAG, &o.special_as_text, "</s> in the text is text, and ends nothing",
     .argument = NULL},
    {"train", '\0', TOOL_INTEGER, &o.train, "TEXTs are files: learn so many tokens from them, and write --out",
     .argument = "N", .low = 256, .high = 1e7},
    {"out", 'o', TOOL_TEXT, &o.out, "TEXTs are files: write their tokens here, raw, 16 bits each or 32",
     .argument = "FILE"},
    {"chat", '\0', TOOL_TEXT, &o.chat, "template of conversations, where it is not that of the folder",
     .argument = "NAME", .choices = "chatml, llama-2, llama-3, gemma, mistral, zephyr", .needs = "out"},
    {"pattern", '\0', TOOL_TEXT, &o.pattern, "where words end (gpt2)", .argument = "NAME",
     .choices = "gpt2, cl100k, qwen2, o200k", .needs = "train"},
    {"special", '\0', TOOL_LIST, &o.special, "a special token, instead of <|endoftext|>; may be given several times",
     .argument = "TEXT", .needs = "train"},
    TOOL_OPTIONS_END,
};

/* A text of a file or of the command line; freed with mw__free. */
static char *read_given(const tool_call *call, size_t *size)
{
    char *text = NULL;
    if (o.file != NULL) {
        mw__file_read(mw__allocator_default(), o.file, (size_t)1 << 31, &text, size, call->err);
        return text;
    }
    mw__text joined;
    mw__text_init(&joined, mw__allocator_default());
    for (int i = 1; i < call->count; i++) {
        mw__text_puts(&joined, i > 1 ? " " : "");
        mw__text_puts(&joined, call->arguments[i]);
    }
    *size = joined.size;
    return mw__text_take(&joined, call->err);
}

/* ---- to tokens ---- */

static void say_summary(const mw_tokenizer *t, const tool_call *call)
{
    const mw_tokenizer_info info = mw_tokenizer_get_info(t);
    if (call->json != NULL) {
        mw__json_add_string(call->json, "model", info.model);
        mw__json_add_integer(call->json, "count", (int64_t)info.count);
        mw__json_add_integer(call->json, "added", (int64_t)info.added);
    } else {
        tool_print("%s, %zu tokens, %zu of them added beside the model\n", info.model, info.count, info.added);
    }
}

static void json_numbers(mw__json_writer *json, const char *key, const mw_tokens *tokens, const size_t *places)
{
    mw__json_open(json, key, '[');
    for (size_t i = 0; i < tokens->count; i++)
        mw__json_add_integer(json, NULL, places != NULL ? (int64_t)places[i] : tokens->ids[i]);
    mw__json_close(json, ']');
}

static void say_numbers(const mw_tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++)
        tool_print("%s%d", i > 0 ? " " : "", (int)tokens->ids[i]);
    tool_puts("\n");
}

static void say_tokens(const mw_tokenizer *t, const mw_tokens *tokens)
{
    tool_puts("  number      bytes  token\n");
    for (size_t i = 0; i < tokens->count; i++) {
        size_t size = 0;
        const char *piece = mw_tokenizer_text(t, tokens->ids[i], &size);
        char place[48];
        snprintf(place, sizeof place, "%zu..%zu", tokens->begin[i], tokens->end[i]);
        tool_print("%8d %10s  \"", (int)tokens->ids[i], tokens->begin[i] < tokens->end[i] ? place : "-");
        tool_show(piece != NULL ? piece : "");
        tool_puts("\"\n");
    }
    tool_print("%zu tokens\n", tokens->count);
}

static int encode(const mw_tokenizer *t, const tool_call *call)
{
    size_t size = 0;
    char *text = read_given(call, &size);
    mw_encode_options options = mw_encode_defaults();
    mw_tokens tokens = {0};
    options.no_special = o.no_special;
    options.special_as_text = o.special_as_text;
    if (text != NULL)
        mw_tokenizer_encode(t, text, size, &options, &tokens, call->err);
    mw__free(mw__allocator_default(), text);
    if (call->err->status != MW_OK)
        return TOOL_FAILED;
    if (call->json != NULL) {
        json_numbers(call->json, "ids", &tokens, NULL);
        json_numbers(call->json, "begin", &tokens, tokens.begin);
        json_numbers(call->json, "end", &tokens, tokens.end);
    } else if (o.numbers) {
        say_numbers(&tokens);
    } else {
        say_tokens(t, &tokens);
    }
    mw_tokens_destroy(&tokens);
    return TOOL_DONE;
}

/* ---- to text ---- */

/* Numbers with spaces or commas between them. NULL after a complaint; freed with mw__free. */
static int32_t *read_numbers(const tool_call *call, const char *text, size_t size, size_t *count)
{
    int32_t *ids = mw__alloc(mw__allocator_default(), size / 2 + 1, sizeof *ids, call->err);
    *count = 0;
    for (size_t at = 0; ids != NULL && at < size;) {
        const size_t gap = strspn(text + at, " ,\t\r\n[]"), length = strcspn(text + at + gap, " ,\t\r\n[]");
        int64_t number = 0;
        if (length == 0)
            break;
        if (!mw__number_read_i64(text + at + gap, length, &number) || number < 0 || number > INT32_MAX) {
            tool_complain("--decode: \"%.*s\" is no number of a token", (int)(length < 60 ? length : 60),
                          text + at + gap);
            mw__free(mw__allocator_default(), ids);
            return NULL;
        }
        ids[(*count)++] = (int32_t)number;
        at += gap + length;
    }
    return ids;
}

static int decode(const mw_tokenizer *t, const tool_call *call)
{
    size_t size = 0, count = 0;
    char *given = read_given(call, &size), *text = NULL;
    int32_t *ids = given != NULL ? read_numbers(call, given, size, &count) : NULL;
    if (ids != NULL)
        text = mw_tokenizer_decode(t, ids, count, !o.no_special, NULL, call->err);
    mw__free(mw__allocator_default(), given);
    if (text != NULL && call->json != NULL) {
        mw__json_add_string(call->json, "text", text);
    } else if (text != NULL) {
        tool_puts(text);
        tool_puts("\n");
    }
    const int code = text != NULL ? TOOL_DONE : call->err->status != MW_OK ? TOOL_FAILED : TOOL_USAGE;
    mw_string_free(text);
    mw__free(mw__allocator_default(), ids);
    return code;
}

/* ---- learning ---- */

static mw_tokenizer_train_options asked_training(void)
{
    mw_tokenizer_train_options options = mw_tokenizer_train_defaults();
    options.count = (size_t)o.train;
    options.pattern = o.pattern != NULL ? o.pattern : options.pattern;
    if (o.special == NULL)
        return options;
    options.special = o.special;
    for (options.special_count = 0; o.special[options.special_count] != NULL;)
        options.special_count++;
    return options;
}

/* The files one behind the other. */
static mw_status read_files(const tool_call *call, mw__text *all)
{
    for (int i = 0; i < call->count; i++) {
        char *text = NULL;
        size_t size = 0;
        MW_TRY(mw__file_read(mw__allocator_default(), call->arguments[i], SIZE_MAX / 4, &text, &size, call->err));
        mw__text_append(all, text, size);
        mw__free(mw__allocator_default(), text);
    }
    return mw__text_check(all, call->err);
}

static int learn(const tool_call *call)
{
    if (o.out == NULL) {
        tool_complain("--train: --out FILE is missing");
        return TOOL_USAGE;
    }
    if (TOOL_REFUSE("TEXTs are files to learn from", "file", "decode", "numbers", "no-special", "special-as-text",
                    "chat"))
        return TOOL_USAGE;
    for (int i = 0; i < call->count; i++)
        if (tool_is_same_file(call->arguments[i], o.out)) {
            tool_complain("--out \"%s\" is one of the texts; name another file", o.out);
            return TOOL_USAGE;
        }
    mw__text all;
    mw__text_init(&all, mw__allocator_default());
    const mw_tokenizer_train_options options = asked_training();
    if (read_files(call, &all) == MW_OK && all.size == 0)
        mw__fail(call->err, MW_ERROR_ARGUMENT, "\"%s\": the texts are empty", call->arguments[0]);
    if (call->err->status == MW_OK)
        mw_tokenizer_train(all.data, all.size, &options, o.out, call->err);
    mw__text_deinit(&all);
    mw_tokenizer *t = call->err->status == MW_OK ? mw_tokenizer_open(o.out, call->err) : NULL;
    if (t != NULL)
        say_summary(t, call);
    mw_tokenizer_destroy(t);
    return call->err->status == MW_OK ? TOOL_DONE : TOOL_FAILED;
}

/* ---- to a file ---- */

static int write_file(const tool_call *call)
{
    mw_text_data_info info;
    mw_text_data_options options = mw_text_data_defaults();
    options.chat = o.chat;
    if (mw_text_data_write(call->arguments + 1, (size_t)call->count - 1, call->arguments[0], o.out, &options, &info,
                           call->err) != MW_OK)
        return TOOL_FAILED;
    if (call->json != NULL) {
        mw__json_add_integer(call->json, "documents", (int64_t)info.documents);
        mw__json_add_integer(call->json, "tokens", (int64_t)info.tokens);
        mw__json_add_integer(call->json, "bytes", (int64_t)info.text_bytes);
    } else {
        tool_print("%llu documents, %llu tokens of %llu bytes\n", (unsigned long long)info.documents,
                   (unsigned long long)info.tokens, (unsigned long long)info.text_bytes);
    }
    return TOOL_DONE;
}

int tool_tokens(const tool_call *call)
{
    if (o.train != 0)
        return learn(call);
    if (o.out != NULL) {
        if (call->count < 2)
            tool_complain("--out: which files?");
        const bool refused = TOOL_REFUSE("with --out", "file", "decode", "numbers", "no-special", "special-as-text");
        return call->count < 2 || refused ? TOOL_USAGE : write_file(call);
    }
    if (o.file != NULL && call->count > 1) {
        tool_complain("--file and a TEXT: one of them");
        return TOOL_USAGE;
    }
    if (o.decode && TOOL_REFUSE("--decode makes text", "numbers", "special-as-text"))
        return TOOL_USAGE;
    const bool has_text = o.file != NULL || call->count > 1;
    if (!has_text && TOOL_REFUSE("there is no text", "decode", "numbers", "no-special", "special-as-text"))
        return TOOL_USAGE;
    mw_tokenizer *t = mw_tokenizer_open(call->arguments[0], call->err);
    int code = TOOL_FAILED;
    if (t != NULL && !has_text) {
        say_summary(t, call);
        code = TOOL_DONE;
    } else if (t != NULL) {
        code = o.decode ? decode(t, call) : encode(t, call);
    }
    mw_tokenizer_destroy(t);
    return code;
}
