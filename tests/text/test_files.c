/* Networks in GGUF, llama2.c's and llm.c's files that make_files.py wrote with numpy: their logits are those that
 * PyTorch gives with the weights as they are stored. Vocabularies of GGUF give the numbers that other engines give. */
#include "base/file/file.h"
#include "support/check.h"
#include "support/on_engine.h"
#include "text/json/tree.h"
#include "text/pretrained/pretrained.h"

#include <math.h>
#include <millwright/text.h>
#include <stdlib.h>

enum { TOKENS = 11, WORDS = 40, LOGITS = TOKENS * WORDS };
#define FILES MW_TESTS_DIR "/text/files/"

static const mw__json_node *read_json(mw__arena *arena, const char *path, mw_error *err)
{
    char *text = NULL;
    size_t size = 0;
    mw__file_read(NULL, path, SIZE_MAX, &text, &size, err);
    const mw__json_node *root = text != NULL ? mw__tree_read(arena, text, size, err) : NULL;
    mw__free(mw__allocator_default(), text);
    return root;
}

/* The largest difference of logits, as a part of the largest one. */
static double difference(const float *logits, const mw__json_node *wanted)
{
    double most = 0.0, largest = 0.0;
    size_t i = 0;
    for (const mw__json_node *n = wanted->first; n != NULL; n = n->next, i++) {
        most = fmax(most, fabs((double)logits[i] - n->number));
        largest = fmax(largest, fabs(n->number));
    }
    return most / largest;
}

static void check_file(const mw__json_node *row)
{
    char path[600];
    float logits[LOGITS];
    int32_t tokens[TOKENS];
    mw_error err = {0};
    size_t i = 0;
    mw__pretrained files;
    snprintf(path, sizeof path, FILES "%s", row->key);
    for (const mw__json_node *n = mw__tree_find(row, "tokens")->first; n != NULL; n = n->next)
        tokens[i++] = (int32_t)n->number;
    mw_text_graph_options o = mw_text_graph_defaults();
    o.tokens = TOKENS;
    mw__pretrained_open(&files, path, &err);
    mw_graph *graph = err.status == MW_OK ? mw_text_graph(&files.config, &o, &err) : NULL;
    mw_program *program = graph != NULL ? engine_compile(graph, MW_DEVICE_CPU, 1, &err) : NULL;
    if (program != NULL)
        mw__pretrained_load(&files, program, &err);
    mw_program_write(program, "tokens", MW_I32, tokens, TOKENS, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "logits", MW_F32, logits, LOGITS, &err);
    if (CHECK_OK(err)) {
        const double d = difference(logits, mw__tree_find(row, "logits"));
        check_note(d < 1e-5, __FILE__, __LINE__, "%s: logits differ by %.2g", row->key, d);
    }
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    mw__pretrained_deinit(&files);
}

static void test_networks_of_every_form_have_the_logits_of_pytorch(void)
{
    mw__arena arena;
    mw_error err = {0};
    size_t count = 0;
    mw__arena_init(&arena, NULL);
    const mw__json_node *root = read_json(&arena, FILES "expected.json", &err);
    if (CHECK_OK(err))
        for (const mw__json_node *row = root->first; row != NULL; row = row->next, count++)
            check_file(row);
    CHECK_INT(count, 15);
    mw__arena_deinit(&arena);
}

/* ---- vocabularies ---- */

/* Which texts a vocabulary gives the same numbers for: GGUF does not say all of a tokenizer. */
typedef bool text_filter(const char *text, size_t size);

/* SentencePiece's own normalizer is not in GGUF: texts that it leaves as they are. */
static bool is_plain(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] < 33 || text[i] > 126)
            if (text[i] != ' ' || i == 0 || i + 1 == size || text[i + 1] == ' ')
                return false;
    return size > 0;
}

/* SentencePiece finds no special token in a text. */
static bool has_no_special(const char *text, size_t size)
{
    (void)size;
    return strstr(text, "<s>") == NULL && strstr(text, "</s>") == NULL && strstr(text, "<unk>") == NULL;
}

/* How long a word may be, which is 20 characters in bert.json, has no key either. */
static bool has_short_words(const char *text, size_t size)
{
    size_t run = 0;
    for (size_t i = 0; i < size; i++) {
        run = text[i] == ' ' ? 0 : run + 1;
        if (run > 20)
            return false;
    }
    return true;
}

static bool is_any(const char *text, size_t size) { return text != NULL || size == 0; }

static bool same_ids(const mw_tokens *tokens, const mw__json_node *ids)
{
    size_t i = 0;
    for (const mw__json_node *id = ids->first; id != NULL; id = id->next, i++)
        if (i >= tokens->count || tokens->ids[i] != (int32_t)id->number)
            return false;
    return i == tokens->count;
}

static void check_line(mw_tokenizer *t, const char *name, const mw__json_node *row, text_filter *takes, long *count)
{
    mw_error err = {0};
    mw_tokens tokens = {0};
    const mw__json_node *text = mw__tree_find(row, "text");
    if (!takes(text->text, text->length))
        return;
    ++*count;
    mw_tokenizer_encode(t, text->text, text->length, NULL, &tokens, &err);
    check_note(err.status == MW_OK && same_ids(&tokens, mw__tree_find(row, "ids")), __FILE__, __LINE__,
               "%s: \"%s\" has other numbers", name, text->text);
    mw_tokens_destroy(&tokens);
}

static void check_vocabulary(const char *name, const char *ending, text_filter *takes)
{
    char path[600], *text = NULL;
    size_t size = 0;
    long count = 0;
    mw_error err = {0};
    snprintf(path, sizeof path, FILES "%s.vocabulary.gguf", name);
    mw_tokenizer *t = mw_tokenizer_open(path, &err);
    snprintf(path, sizeof path, MW_TESTS_DIR "/text/vectors/%s.%s", name, ending);
    mw__file_read(NULL, path, SIZE_MAX, &text, &size, &err);
    for (char *line = text, *end; CHECK_OK(err) && line < text + size; line = end + 1) {
        mw__arena arena;
        mw__arena_init(&arena, NULL);
        end = strchr(line, '\n');
        const mw__json_node *row = mw__tree_read(&arena, line, (size_t)(end - line), &err);
        if (row != NULL)
            check_line(t, name, row, takes, &count);
        mw__arena_deinit(&arena);
    }
    CHECK(count > 10);
    mw__free(mw__allocator_default(), text);
    mw_tokenizer_destroy(t);
}

static void test_vocabularies_of_gguf_give_the_numbers_of_other_engines(void)
{
    check_vocabulary("gpt2", "jsonl", is_any);
    check_vocabulary("qwen2", "jsonl", is_any);
    check_vocabulary("llama3", "jsonl", is_any);
    check_vocabulary("spm_bpe", "lines", is_plain);
    check_vocabulary("spm_unigram", "lines", has_no_special);
    check_vocabulary("t5_table", "jsonl", is_any);
    check_vocabulary("bert", "jsonl", has_short_words);
}

int main(void)
{
    RUN(test_networks_of_every_form_have_the_logits_of_pytorch);
    RUN(test_vocabularies_of_gguf_give_the_numbers_of_other_engines);
    return check_finish();
}
