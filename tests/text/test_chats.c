/* Conversations as texts: what Hugging Face's Jinja engine makes of the same messages (make_chats.mjs). A template is
 * recognized by its own text, and what it refuses is refused. */
#include "base/file/file.h"
#include "support/check.h"
#include "text/data/chat.h"

#include <stdlib.h>

static void check_text(const mw__corpus_chat *chat, const mw__json_node *line, int number)
{
    mw_error err = {0};
    mw__chat_text out = {0};
    mw__text_init(&out.text, mw__allocator_default());
    const mw__json_node *text = mw__tree_find(line, "text");
    const mw_status status = mw__corpus_chat_render(chat, mw__tree_find(line, "messages"), &out, &err);
    if (mw__tree_is(text, MW__JSON_IS_NULL))
        check_note(status != MW_OK && err.message[0] != '\0', __FILE__, __LINE__, "line %d is refused", number);
    else if (CHECK_OK(err))
        check_note(out.text.size == text->length && memcmp(out.text.data, text->text, text->length) == 0, __FILE__,
                   __LINE__, "line %d: \"%.*s\", not \"%s\"", number, (int)out.text.size, out.text.data, text->text);
    mw__text_deinit(&out.text);
    mw__free(mw__allocator_default(), out.spans);
}

static void check_line(const char *text, size_t size, int number)
{
    mw__arena arena;
    mw_error err = {0};
    mw__arena_init(&arena, mw__allocator_default());
    const mw__json_node *line = mw__tree_read(&arena, text, size, &err);
    mw__corpus_chat chat = {.bos = mw__tree_text(line, "bos"), .eos = mw__tree_text(line, "eos")};
    if (line != NULL)
        mw__corpus_chat_by_template(&chat, &arena, mw__tree_text(line, "template"), "here", &err);
    if (CHECK_OK(err)) {
        CHECK_STR(mw__corpus_chat_name(&chat), mw__tree_text(line, "name"));
        check_text(&chat, line, number);
    }
    mw__arena_deinit(&arena);
}

static void test_texts_are_those_of_jinja(void)
{
    const char *given = getenv("MW_CHAT_VECTORS");
    char *text = NULL;
    size_t size = 0;
    int number = 0;
    mw_error err = {0};
    mw__file_read(NULL, given != NULL ? given : MW_TESTS_DIR "/text/chats.jsonl", SIZE_MAX, &text, &size, &err);
    REQUIRE(CHECK_OK(err));
    for (const char *at = text; at < text + size; number++) {
        const char *end = memchr(at, '\n', size - (size_t)(at - text));
        end = end != NULL ? end : text + size;
        check_line(at, (size_t)(end - at), number + 1);
        at = end + 1;
    }
    CHECK(number >= (given != NULL ? 1 : 56));
    mw__free(mw__allocator_default(), text);
}

/* What has been seen of templates that are near, and are none of these. */
static void test_other_templates_are_refused_by_what_they_have(void)
{
    static const struct {
        const char *text, *part;
    } rows[] = {{"{{ '<|im_start|>' }}<|im_end|>{% if reasoning_content %}<think>", "reasoning_content"},
                {"<|start_header_id|><|end_header_id|><|eot_id|>{{ date_string }}", "date_string"},
                {"[INST] [/INST] [AVAILABLE_TOOLS]", "[AVAILABLE_TOOLS]"},
                {"<|user|> <|assistant|> eos_token <|end|>", "<|end|>"},
                {"### Instruction:", "none of chatml, llama-2"},
                {"", "none of chatml, llama-2"}};
    mw__arena arena;
    mw__arena_init(&arena, mw__allocator_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mw_error err = {0};
        mw__corpus_chat chat = {0};
        mw__corpus_chat_by_template(&chat, &arena, rows[i].text, "models/this", &err);
        CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, rows[i].part);
        CHECK_CONTAINS(err.message, "models/this");
        CHECK(chat.row == NULL);
    }
    mw__arena_deinit(&arena);
}

static void test_names_are_known_or_listed(void)
{
    static const char *const names[] = {"chatml", "llama-2", "llama-3", "gemma", "mistral", "zephyr"};
    mw_error err = {0};
    mw__corpus_chat chat = {0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mw__corpus_chat_by_name(&chat, names[i], &err);
        CHECK_OK(err);
        CHECK_STR(mw__corpus_chat_name(&chat), names[i]);
    }
    mw__corpus_chat_by_name(&chat, "vicuna", &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "no chat template \"vicuna\"; known are chatml, llama-2");
}

int main(void)
{
    RUN(test_texts_are_those_of_jinja);
    RUN(test_other_templates_are_refused_by_what_they_have);
    RUN(test_names_are_known_or_listed);
    return check_finish();
}
