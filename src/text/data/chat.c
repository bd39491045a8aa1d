/* Templates of conversations. What each says is from the chat_template that its models were given out with. */
#include "text/data/chat.h"

#include "base/text/error.h"

#include <string.h>

/* What stands around the words of one who speaks; NULL: nobody of that kind speaks. \1 is bos, \2 eos. */
typedef struct turn {
    const char *before, *after;
} turn;

typedef struct mw__chat_row {
    const char *name;
    const char *marks[3];  /* all of these are in the template .. */
    const char *rivals[4]; /* .. and none of these, by which others are told apart */
    const char *first;     /* in front of all */
    turn system, user, answer;
    const char *rest;    /* behind answer.after, and not learned */
    bool system_in_user; /* the system message stands within the first one of the user */
    bool trims;          /* white space around what is said goes */
    bool alternates;     /* user and assistant take turns, the user first */
} mw__chat_row;

static const mw__chat_row rows[] = {
    {.name = "chatml",
     .marks = {"<|im_start|>", "<|im_end|>"},
     .rivals = {"<think>", "reasoning_content"},
     .first = "",
     .system = {"<|im_start|>system\n", "<|im_end|>\n"},
     .user = {"<|im_start|>user\n", "<|im_end|>\n"},
     .answer = {"<|im_start|>assistant\n", "<|im_end|>"},
     .rest = "\n"},
    {.name = "llama-2",
     .marks = {"[INST]", "<<SYS>>", "[/INST]"},
     .first = "",
     .system = {"<<SYS>>\n", "\n<</SYS>>\n\n"},
     .user = {"\1[INST] ", " [/INST]"},
     .answer = {" ", " \2"},
     .rest = "",
     .system_in_user = true,
     .trims = true,
     .alternates = true},
    {.name = "llama-3",
     .marks = {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
     .rivals = {"date_string", "Cutting Knowledge"},
     .first = "\1",
     .system = {"<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"},
     .user = {"<|start_header_id|>user<|end_header_id|>\n\n", "<|eot_id|>"},
     .answer = {"<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"},
     .rest = "",
     .trims = true},
    {.name = "gemma",
     .marks = {"<start_of_turn>", "<end_of_turn>"},
     .rivals = {"first_user_prefix", "<start_of_image>"},
     .first = "\1",
     .user = {"<start_of_turn>user\n", "<end_of_turn>\n"},
     .answer = {"<start_of_turn>model\n", "<end_of_turn>"},
     .rest = "\n",
     .trims = true,
     .alternates = true},
    {.name = "mistral",
     .marks = {"[INST]", "[/INST]"},
     .rivals = {"<<SYS>>", "[AVAILABLE_TOOLS]", "[SYSTEM_PROMPT]"},
     .first = "\1",
     .user = {"[INST] ", " [/INST]"},
     .answer = {"", "\2"},
     .rest = "",
     .alternates = true},
    {.name = "zephyr",
     .marks = {"<|user|>", "<|assistant|>", "eos_token"},
     .rivals = {"<|end|>", "<|endoftext|>"},
     .first = "",
     .system = {"<|system|>\n", "\2\n"},
     .user = {"<|user|>\n", "\2\n"},
     .answer = {"<|assistant|>\n", "\2"},
     .rest = "\n"},
};

/* ---- which one ---- */

mw_status mw__corpus_chat_by_name(mw__corpus_chat *chat, const char *name, mw_error *err)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) {
            chat->row = &rows[i];
            return MW_OK;
        }
    return mw__fail(err, MW_ERROR_ARGUMENT, "there is no chat template \"%.60s\"; known are " MW__CHAT_NAMES, name);
}

const char *mw__corpus_chat_name(const mw__corpus_chat *chat) { return chat->row != NULL ? chat->row->name : NULL; }

/* How many of a list a text has; *found is the last of them. */
static size_t count_marks(const char *const *marks, size_t most, const char *text, const char **found)
{
    size_t count = 0;
    for (size_t i = 0; i < most && marks[i] != NULL; i++)
        if (strstr(text, marks[i]) != NULL) {
            *found = marks[i];
            count++;
        }
    return count;
}

static size_t mark_count(const mw__chat_row *row)
{
    size_t count = 0;
    while (count < 3 && row->marks[count] != NULL)
        count++;
    return count;
}

/* "<|im_start|>system\nYou are ..<|im_end|>" as one literal is what is said where nobody else says it. */
static mw_status take_system(mw__corpus_chat *chat, mw__arena *arena, const char *text, mw_error *err)
{
    static const char begin[] = "<|im_start|>system\\n";
    for (const char *at = strstr(text, begin); at != NULL; at = strstr(at, begin)) {
        at += sizeof begin - 1;
        const char *end = strstr(at, "<|im_end|>");
        const size_t size = end != NULL ? (size_t)(end - at) : 0;
        if (size == 0 || strcspn(at, "'\"{}\\") < size)
            continue;
        chat->system = mw__arena_string(arena, at, size, err);
        return chat->system != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    return MW_OK;
}

mw_status mw__corpus_chat_by_template(mw__corpus_chat *chat, mw__arena *arena, const char *text, const char *where,
                                      mw_error *err)
{
    const char *rival = NULL, *found = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (count_marks(rows[i].marks, 3, text, &found) < mark_count(&rows[i]) ||
            count_marks(rows[i].rivals, 4, text, &rival) > 0)
            continue;
        chat->row = &rows[i];
        chat->spaced_end = strcmp(rows[i].name, "mistral") == 0 && strstr(text, "eos_token + ' '") != NULL;
        return strcmp(rows[i].name, "chatml") == 0 ? take_system(chat, arena, text, err) : MW_OK;
    }
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "the chat template of \"%.200s\"%s%s%s is none of " MW__CHAT_NAMES "; name the one to use", where,
                    rival != NULL ? ", with \"" : "", rival != NULL ? rival : "", rival != NULL ? "\"," : "");
}

/* ---- what it says ---- */

static void put_part(const mw__corpus_chat *chat, mw__chat_text *out, const char *part)
{
    for (; *part != '\0'; part++) {
        if (*part == '\1' || *part == '\2')
            mw__text_puts(&out->text, *part == '\1' ? chat->bos : chat->eos);
        else
            mw__text_append(&out->text, part, 1);
    }
}

static mw_status add_span(mw__chat_text *out, size_t begin, bool learned, mw_error *err)
{
    MW_TRY(mw__grow(mw__allocator_default(), &out->spans, &out->span_capacity, out->span_count + 1, sizeof *out->spans,
                    err));
    out->spans[out->span_count++] = (mw__chat_span){begin, out->text.size, learned};
    return MW_OK;
}

/* White space of Python's str.strip, as far as it is ASCII. */
static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f); }

typedef enum trim { TRIM_NONE, TRIM_BOTH } trim;

static mw_status put_words(mw__chat_text *out, const mw__json_node *node, trim ends, mw_error *err)
{
    const char *words = node->text;
    size_t size = node->length;
    while (ends == TRIM_BOTH && size > 0 && is_space(words[size - 1]))
        size--;
    while (ends == TRIM_BOTH && size > 0 && is_space(*words)) {
        words++;
        size--;
    }
    const size_t begin = out->text.size;
    mw__text_append(&out->text, words, size);
    return add_span(out, begin, false, err);
}

static trim trim_of(const mw__corpus_chat *chat) { return chat->row->trims ? TRIM_BOTH : TRIM_NONE; }

/* White space that is left where the words are none, and what stands before them ends in some. */
static void trim_end(mw__chat_text *out, size_t begin)
{
    while (out->text.size > begin && is_space(out->text.data[out->text.size - 1]))
        out->text.size--;
    mw__chat_span *last = &out->spans[out->span_count - 1];
    last->begin = last->begin < out->text.size ? last->begin : out->text.size;
    last->end = out->text.size;
}

/* `inside`: a system message in front of the words, or NULL. Both together are trimmed as one. */
static mw_status put_turn(const mw__corpus_chat *chat, mw__chat_text *out, turn t, const mw__json_node *inside,
                          const mw__json_node *words, mw_error *err)
{
    put_part(chat, out, t.before);
    const size_t begin = out->text.size;
    if (inside != NULL) {
        put_part(chat, out, chat->row->system.before);
        MW_TRY(put_words(out, inside, TRIM_NONE, err));
        put_part(chat, out, chat->row->system.after);
    }
    MW_TRY(put_words(out, words, inside != NULL ? TRIM_NONE : trim_of(chat), err));
    if (inside != NULL && chat->row->trims)
        trim_end(out, begin);
    put_part(chat, out, t.after);
    return MW_OK;
}

static mw_status put_answer(const mw__corpus_chat *chat, mw__chat_text *out, const mw__json_node *words, mw_error *err)
{
    put_part(chat, out, chat->row->answer.before);
    const size_t begin = out->text.size;
    MW_TRY(put_words(out, words, trim_of(chat), err));
    put_part(chat, out, chat->row->answer.after);
    MW_TRY(add_span(out, begin, true, err));
    put_part(chat, out, chat->spaced_end ? " " : chat->row->rest);
    return MW_OK;
}

/* ---- messages ---- */

typedef enum speaker { SYSTEM, USER, ASSISTANT, OTHER } speaker;

static speaker speaker_of(const mw__json_node *message)
{
    static const char *const names[] = {"system", "user", "assistant"};
    const char *role = mw__tree_text(message, "role");
    for (int i = 0; role != NULL && i < OTHER; i++)
        if (strcmp(role, names[i]) == 0)
            return (speaker)i;
    return OTHER;
}

static mw_status check_message(const mw__corpus_chat *chat, const mw__json_node *message, size_t index, size_t spoken,
                               mw_error *err)
{
    const mw__json_node *words = mw__tree_find(message, "content");
    const speaker who = speaker_of(message);
    const char *role = mw__tree_text(message, "role");
    if (who == OTHER)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "message %zu has the role \"%.40s\"; known are system, user and assistant", index + 1,
                        role != NULL ? role : "");
    if (!mw__tree_is(words, MW__JSON_IS_TEXT))
        return mw__fail(err, MW_ERROR_FORMAT, "message %zu has no \"content\" that is a string", index + 1);
    if (who == SYSTEM && (index > 0 || (chat->row->system.before == NULL)))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        index > 0 ? "message %zu is a system message; only the first may be"
                                  : "message %zu is a system message, which %s has none of",
                        index + 1, chat->row->name);
    if (chat->row->alternates && who != SYSTEM && (who == USER) != (spoken % 2 == 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "message %zu is of the %s; in %s user and assistant take turns",
                        index + 1, role, chat->row->name);
    return MW_OK;
}

static mw_status put_system(const mw__corpus_chat *chat, mw__chat_text *out, const mw__json_node *first,
                            const mw__json_node **inside, mw_error *err)
{
    const bool said = speaker_of(first) == SYSTEM;
    *inside = said && chat->row->system_in_user ? mw__tree_find(first, "content") : NULL;
    if (said && !chat->row->system_in_user)
        return put_turn(chat, out, chat->row->system, NULL, mw__tree_find(first, "content"), err);
    if (said || chat->system == NULL)
        return MW_OK;
    const mw__json_node usual = {.text = chat->system, .length = strlen(chat->system)};
    return put_turn(chat, out, chat->row->system, NULL, &usual, err);
}

mw_status mw__corpus_chat_render(const mw__corpus_chat *chat, const mw__json_node *messages, mw__chat_text *out,
                                 mw_error *err)
{
    size_t index = 0, spoken = 0;
    const mw__json_node *inside = NULL;
    if (!mw__tree_is(messages, MW__JSON_IS_ARRAY) || messages->first == NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "\"messages\" is no array with a message");
    out->text.size = 0;
    out->span_count = 0;
    put_part(chat, out, chat->row->first);
    for (const mw__json_node *m = messages->first; m != NULL; m = m->next, index++) {
        MW_TRY(check_message(chat, m, index, spoken, err));
        if (index == 0)
            MW_TRY(put_system(chat, out, m, &inside, err));
        if (speaker_of(m) == SYSTEM)
            continue;
        const mw__json_node *words = mw__tree_find(m, "content");
        MW_TRY(speaker_of(m) == USER ? put_turn(chat, out, chat->row->user, spoken == 0 ? inside : NULL, words, err)
                                     : put_answer(chat, out, words, err));
        spoken++;
    }
    return mw__text_check(&out->text, err);
}
