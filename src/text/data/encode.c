/* Files as documents of tokens. */
#include "text/data/encoder.h"

#include "base/text/error.h"
#include "base/text/string.h"

#include <string.h>

/* A line beyond this is refused; plain text beyond it is encoded in pieces that end with a line. */
enum { LINE_MOST = 1 << 26, PIECE = 1 << 24, READ = 1 << 18 };

typedef struct encoding {
    const mw__corpus_encoder *e;
    mw__corpus_writer *out;
    const char *path;
    mw__arena tree; /* of one line */
    mw__chat_text chat;
    bool *learned;
    size_t learned_capacity;
    mw_error *err;
} encoding;

bool mw__corpus_is_lines(const char *path)
{
    return mw__string_ends(path, ".jsonl") || mw__string_ends(path, ".ndjson");
}

/* ---- documents ---- */

/* Of a tokenizer that gives numbers beyond the network's table. */
static mw_status check_ids(const encoding *c, const mw_tokens *tokens)
{
    for (size_t i = 0; i < tokens->count; i++)
        if ((uint64_t)tokens->ids[i] >= c->e->words)
            return mw__fail(c->err, MW_ERROR_ARGUMENT,
                            "\"%.200s\": the token \"%.60s\" has the number %d, and the network has %llu words",
                            c->path, mw_tokenizer_text(c->e->tokenizer, tokens->ids[i], NULL), (int)tokens->ids[i],
                            (unsigned long long)c->e->words);
    return MW_OK;
}

/* Tokens of a text that is all of a document, or a part of one. */
static mw_status put_text(encoding *c, const char *text, size_t size, bool begins, bool ends)
{
    const mw__corpus_encoder *e = c->e;
    mw_tokens tokens = {0};
    mw_encode_options options = mw_encode_defaults();
    options.no_special = true;
    options.special_as_text = true;
    MW_TRY(mw_tokenizer_encode(e->tokenizer, text, size, &options, &tokens, c->err));
    mw_status status = check_ids(c, &tokens);
    if (status == MW_OK && begins)
        status = e->before_count > 0 ? mw__corpus_add(c->out, e->before, NULL, e->before_count, c->err)
                                     : mw__corpus_add(c->out, tokens.ids, NULL, tokens.count, c->err);
    if (status == MW_OK && !(begins && e->before_count == 0))
        status = mw__corpus_go_on(c->out, tokens.ids, NULL, tokens.count, c->err);
    if (status == MW_OK && ends)
        status = mw__corpus_go_on(c->out, e->after, NULL, e->after_count, c->err);
    c->out->text_bytes += size;
    mw_tokens_destroy(&tokens);
    return status;
}

/* ---- plain text ---- */

/* The end of the last line that stands alone, so that a tokenizer cuts there whatever follows. */
static size_t cut_of(const char *text, size_t size)
{
    for (size_t i = size - 1; i > size / 2; i--)
        if (text[i - 1] == '\n' && text[i] > ' ' && i >= 2 && text[i - 2] > ' ')
            return i;
    size_t end = size;
    while (end > size / 2 && (text[end - 1] & 0xc0) == 0x80)
        end--;
    return end > size / 2 + 1 && (unsigned char)text[end - 1] >= 0xc0 ? end - 1 : size;
}

static mw_status put_pieces(encoding *c, const mw__file *file, char *text)
{
    uint64_t at = 0;
    for (bool begins = true; at < file->size; begins = false) {
        const uint64_t left = file->size - at;
        size_t size = left < PIECE ? (size_t)left : PIECE;
        MW_TRY(mw__file_read_at(file, at, text, size, c->path, c->err));
        const bool ends = size == left;
        size = ends ? size : cut_of(text, size);
        MW_TRY(put_text(c, text, size, begins, ends));
        at += size;
    }
    return MW_OK;
}

static mw_status encode_text(encoding *c, const mw__file *file)
{
    char *text = mw__alloc(mw__allocator_default(), file->size < PIECE ? (size_t)file->size : PIECE, 1, c->err);
    const mw_status status = text != NULL ? put_pieces(c, file, text) : MW_ERROR_MEMORY;
    mw__free(mw__allocator_default(), text);
    return status;
}

/* ---- conversations ---- */

static bool overlaps(const mw_tokens *tokens, size_t i, const mw__chat_span *span)
{
    return tokens->end[i] > span->begin && tokens->begin[i] < span->end;
}

/* What somebody wrote ends no turn and begins none. Tokens come in the order of the text, as spans do. */
static mw_status mark_tokens(encoding *c, const mw_tokens *tokens)
{
    MW_TRY(mw__grow(mw__allocator_default(), &c->learned, &c->learned_capacity, tokens->count, 1, c->err));
    size_t first = 0;
    for (size_t i = 0; i < tokens->count; i++) {
        c->learned[i] = false;
        while (first < c->chat.span_count && c->chat.spans[first].end <= tokens->begin[i])
            first++;
        for (size_t s = first; s < c->chat.span_count && c->chat.spans[s].begin < tokens->end[i]; s++) {
            const mw__chat_span *span = &c->chat.spans[s];
            if (!overlaps(tokens, i, span))
                continue;
            c->learned[i] = c->learned[i] || span->learned;
            if (!span->learned && mw_tokenizer_is_special(c->e->tokenizer, tokens->ids[i]))
                return mw__fail(c->err, MW_ERROR_ARGUMENT,
                                "a message holds \"%.60s\", which is a special token; take it out",
                                mw_tokenizer_text(c->e->tokenizer, tokens->ids[i], NULL));
        }
    }
    return MW_OK;
}

static mw_status put_chat(encoding *c, const mw__json_node *messages)
{
    const mw__corpus_encoder *e = c->e;
    mw_tokens tokens = {0};
    mw_encode_options options = mw_encode_defaults();
    options.no_special = true;
    if (e->no_chat != NULL)
        return mw__fail(c->err, MW_ERROR_UNSUPPORTED, "a conversation, and %s", e->no_chat);
    MW_TRY(mw__corpus_chat_render(&e->chat, messages, &c->chat, c->err));
    MW_TRY(mw_tokenizer_encode(e->tokenizer, c->chat.text.data, c->chat.text.size, &options, &tokens, c->err));
    mw_status status = check_ids(c, &tokens);
    if (status == MW_OK)
        status = mark_tokens(c, &tokens);
    if (status == MW_OK)
        status = mw__corpus_add(c->out, tokens.ids, c->learned, tokens.count, c->err);
    c->out->text_bytes += c->chat.text.size;
    mw_tokens_destroy(&tokens);
    return status;
}

/* ---- lines ---- */

static mw_status put_line(encoding *c, const char *line, size_t size)
{
    if (strspn(line, " \t\r") >= size)
        return MW_OK;
    const mw__json_node *root = mw__tree_read(&c->tree, line, size, c->err);
    MW_TRY(c->err->status);
    const mw__json_node *text = mw__tree_find(root, "text"), *messages = mw__tree_find(root, "messages");
    if (messages != NULL)
        return put_chat(c, messages);
    if (mw__tree_is(text, MW__JSON_IS_TEXT))
        return put_text(c, text->text, text->length, true, true);
    return mw__fail(c->err, MW_ERROR_FORMAT, "an object with \"text\", a string, or \"messages\" is wanted");
}

/* The message begins with the place, as compilers say it. */
static mw_status put_numbered(encoding *c, const char *line, size_t size, uint64_t number)
{
    mw_error own = {0}, *err = c->err;
    c->err = &own;
    mw__arena_init(&c->tree, mw__allocator_default());
    const mw_status status = put_line(c, line, size);
    mw__arena_deinit(&c->tree);
    c->err = err;
    return status == MW_OK
               ? MW_OK
               : mw__fail(err, status, "%.200s:%llu: %.300s", c->path, (unsigned long long)number, own.message);
}

/* Lines of what is in `text`; the rest, which has no end yet, stays at its begin. There is none before `searched`. */
static mw_status take_lines(encoding *c, mw__text *text, size_t searched, bool is_end, uint64_t *number)
{
    size_t begin = 0;
    while (begin < text->size) {
        const size_t from = begin > searched ? begin : searched;
        char *end = memchr(text->data + from, '\n', text->size - from);
        if (end == NULL && !is_end)
            break;
        const size_t size = end != NULL ? (size_t)(end - text->data) - begin : text->size - begin;
        text->data[begin + size] = '\0'; /* there is room: texts end in NUL */
        MW_TRY(put_numbered(c, text->data + begin, size, ++*number));
        begin += size + (end != NULL ? 1 : 0);
    }
    memmove(text->data, text->data + begin, text->size - begin);
    text->size -= begin;
    return text->size <= LINE_MOST ? MW_OK
                                   : mw__fail(c->err, MW_ERROR_FORMAT, "%.200s:%llu: a line of more than %d bytes",
                                              c->path, (unsigned long long)*number + 1, LINE_MOST);
}

static mw_status read_lines(encoding *c, const mw__file *file, mw__text *text, char *part)
{
    uint64_t number = 0;
    for (uint64_t at = 0; at < file->size;) {
        const uint64_t left = file->size - at;
        const size_t size = left < READ ? (size_t)left : READ;
        MW_TRY(mw__file_read_at(file, at, part, size, c->path, c->err));
        const size_t searched = text->size;
        mw__text_append(text, part, size);
        MW_TRY(mw__text_check(text, c->err));
        at += size;
        MW_TRY(take_lines(c, text, searched, at == file->size, &number));
    }
    return MW_OK;
}

static mw_status encode_lines(encoding *c, const mw__file *file)
{
    mw__text text;
    char *part = mw__alloc(mw__allocator_default(), READ, 1, c->err);
    mw__text_init(&text, mw__allocator_default());
    const mw_status status = part != NULL ? read_lines(c, file, &text, part) : MW_ERROR_MEMORY;
    mw__text_deinit(&text);
    mw__free(mw__allocator_default(), part);
    return status;
}

mw_status mw__corpus_encode(const mw__corpus_encoder *e, const char *path, mw__corpus_writer *out, mw_error *err)
{
    encoding c = {.e = e, .out = out, .path = path, .err = err};
    mw__file file;
    MW_TRY(mw__file_open(&file, path, err));
    mw__text_init(&c.chat.text, mw__allocator_default());
    const mw_status status = mw__corpus_is_lines(path) ? encode_lines(&c, &file) : encode_text(&c, &file);
    mw__file_close(&file);
    mw__text_deinit(&c.chat.text);
    mw__free(mw__allocator_default(), c.chat.spans);
    mw__free(mw__allocator_default(), c.learned);
    return status;
}
