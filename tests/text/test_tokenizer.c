/* The interface of tokenizers: what it finds, takes and refuses, and that no file or text makes it slow. */
#include "base/file/file.h"
#include "base/number/random.h"
#include "support/check.h"
#include "support/folder.h"
#include "text/unicode/unicode.h"

#include <millwright/text.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <stdlib.h>
#include <time.h>

#define VECTORS MW_TESTS_DIR "/text/vectors/"

static mw_tokenizer *open_form(const char *name)
{
    char path[512];
    mw_error err = {0};
    snprintf(path, sizeof path, VECTORS "%s.json", name);
    mw_tokenizer *t = mw_tokenizer_open(path, &err);
    CHECK_OK(err);
    return t;
}

static mw_tokens encode(const mw_tokenizer *t, const char *text, size_t size, const mw_encode_options *options)
{
    mw_error err = {0};
    mw_tokens tokens = {0};
    mw_tokenizer_encode(t, text, size, options, &tokens, &err);
    CHECK_OK(err);
    return tokens;
}

/* ---- what it says ---- */

static void test_tokens_are_found_by_text_and_number(void)
{
    mw_tokenizer *t = open_form("gpt2");
    REQUIRE(t != NULL);
    const mw_tokenizer_info info = mw_tokenizer_get_info(t);
    CHECK_STR(info.model, "BPE");
    CHECK_INT(info.added, 1);
    const int32_t end = mw_tokenizer_id(t, "<|endoftext|>");
    CHECK_INT(end, (long long)info.count - 1);
    CHECK(mw_tokenizer_is_special(t, end) && !mw_tokenizer_is_special(t, 0));
    size_t size = 0;
    const char *the = mw_tokenizer_text(t, mw_tokenizer_id(t, " the"), &size);
    CHECK(the != NULL && size == 4 && memcmp(the, " the", 4) == 0);
    CHECK_INT(mw_tokenizer_id(t, "no such token"), -1);
    CHECK(mw_tokenizer_text(t, -1, NULL) == NULL && mw_tokenizer_text(t, 1 << 30, NULL) == NULL);
    mw_tokenizer_destroy(t);
}

static void test_special_tokens_can_be_left_out_or_be_text(void)
{
    static const char text[] = "a</s>b";
    mw_tokenizer *t = open_form("llama2");
    REQUIRE(t != NULL);
    mw_encode_options o = mw_encode_defaults();
    mw_tokens usual = encode(t, text, 6, NULL);
    o.no_special = true;
    mw_tokens bare = encode(t, text, 6, &o);
    o.special_as_text = true;
    mw_tokens plain = encode(t, text, 6, &o);
    CHECK_INT(usual.count, bare.count + 1);
    CHECK_INT(usual.ids[0], mw_tokenizer_id(t, "<s>"));
    int ends[2] = {0, 0};
    for (size_t i = 0; i < bare.count; i++)
        ends[0] += bare.ids[i] == mw_tokenizer_id(t, "</s>");
    for (size_t i = 0; i < plain.count; i++)
        ends[1] += plain.ids[i] == mw_tokenizer_id(t, "</s>");
    CHECK(ends[0] == 1 && ends[1] == 0);
    mw_tokens_destroy(&usual);
    mw_tokens_destroy(&bare);
    mw_tokens_destroy(&plain);
    mw_tokenizer_destroy(t);
}

/* ---- any bytes ---- */

static bool comes_back(const mw_tokenizer *t, const char *bytes, size_t size)
{
    mw_error err = {0};
    mw_tokens tokens = encode(t, bytes, size, NULL);
    char *text = NULL;
    size_t got = 0;
    text = mw_tokenizer_decode(t, tokens.ids, tokens.count, true, &got, &err);
    const bool same = text != NULL && got == size && memcmp(text, bytes, size) == 0;
    mw_string_free(text);
    mw_tokens_destroy(&tokens);
    return same && err.status == MW_OK;
}

static void test_byte_level_tokens_give_any_bytes_back(void)
{
    mw_tokenizer *t = open_form("gpt2");
    mw__random random = {.seed = 5, .stream = 1};
    REQUIRE(t != NULL);
    long good = 0;
    for (int i = 0; i < 3000; i++) {
        char bytes[80];
        const size_t size = (size_t)mw__random_below(&random, sizeof bytes);
        for (size_t k = 0; k < size; k++)
            bytes[k] = (char)mw__random_below(&random, 256);
        good += comes_back(t, bytes, size);
    }
    CHECK_INT(good, 3000);
    CHECK(comes_back(t, "a\0b", 3));
    mw_tokenizer_destroy(t);
}

static void test_every_form_takes_any_bytes(void)
{
    static const char *const forms[] = {"bert", "gemma", "llama2", "llama3", "qwen2", "roberta", "t5"};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        mw_tokenizer *t = open_form(forms[f]);
        mw__random random = {.seed = f, .stream = 2};
        for (int i = 0; t != NULL && i < 2000; i++) {
            char bytes[64];
            const size_t size = (size_t)mw__random_below(&random, sizeof bytes);
            for (size_t k = 0; k < size; k++)
                bytes[k] = (char)(mw__random_below(&random, 3) == 0 ? mw__random_below(&random, 256) : ' ' + k);
            mw_tokens tokens = encode(t, bytes, size, NULL);
            for (size_t k = 0; k < tokens.count; k++)
                CHECK(tokens.begin[k] <= tokens.end[k] && tokens.end[k] <= size);
            mw_tokens_destroy(&tokens);
        }
        mw_tokenizer_destroy(t);
    }
}

/* ---- streams ---- */

static bool streams_alike(const mw_tokenizer *t, const mw_tokens *tokens, const char *whole)
{
    mw_error err = {0};
    char joined[1024] = "";
    mw_token_stream *stream = mw_token_stream_create(t, &err);
    for (size_t i = 0; i < tokens->count; i++) {
        const char *part = mw_token_stream_push(stream, tokens->ids[i], &err);
        for (const char *at = part; part != NULL && *at != '\0';) {
            const mw__char c = mw__unicode_read(at, part + strlen(part));
            CHECK(c.code < 0x110000); /* never half a character */
            at += c.length;
        }
        strncat(joined, part != NULL ? part : "", sizeof joined - strlen(joined) - 1);
    }
    strncat(joined, mw_token_stream_finish(stream), sizeof joined - strlen(joined) - 1);
    mw_token_stream_destroy(stream);
    return err.status == MW_OK && strcmp(joined, whole) == 0;
}

static void test_streams_give_whole_characters(void)
{
    static const char *const forms[] = {"bert", "gemma", "gpt2", "llama2", "llama3", "t5"};
    static const char text[] = "The weather: 東京 is 😀 naïve, isn't it?";
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        mw_error err = {0};
        char *whole = NULL;
        mw_tokenizer *t = open_form(forms[f]);
        mw_tokens tokens = encode(t, text, sizeof text - 1, NULL);
        whole = mw_tokenizer_decode(t, tokens.ids, tokens.count, false, NULL, &err);
        check_note(streams_alike(t, &tokens, whole), __FILE__, __LINE__, "%s streams something else", forms[f]);
        mw_string_free(whole);
        mw_tokens_destroy(&tokens);
        mw_tokenizer_destroy(t);
    }
}

/* ---- what is refused ---- */

static void test_errors_name_the_fault(void)
{
    mw_error err = {0};
    mw_tokens tokens = {0};
    const int32_t beyond = 1 << 20;
    mw_tokenizer *t = open_form("gpt2");
    CHECK(mw_tokenizer_decode(t, &beyond, 1, false, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "token 0 has the number 1048576");
    mw_error_clear(&err);
    mw_tokenizer_encode(NULL, "a", 1, NULL, &tokens, &err);
    CHECK_ERROR(err, MW_ERROR_STATE, "tokenizer");
    mw_error_clear(&err);
    mw_encode_options unmade = {0};
    mw_tokenizer_encode(t, "a", 1, &unmade, &tokens, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "mw_encode_defaults");
    mw_error_clear(&err);
    CHECK(mw_tokenizer_open("nowhere/tokenizer.json", &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "nowhere");
    mw_error_clear(&err);
    CHECK(mw_tokenizer_open(MW_TESTS_DIR, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "tokenizer.json");
    mw_tokenizer_destroy(t);
}

static void refuse(const char *content, mw_status status, const char *part)
{
    mw_error err = {0};
    REQUIRE(mw__file_write(NULL, "bad.json", content, strlen(content), false, &err) == MW_OK);
    mw_tokenizer *t = mw_tokenizer_open("bad.json", &err);
    CHECK(t == NULL);
    CHECK_ERROR(err, status, part);
    mw_tokenizer_destroy(t);
}

#define MODEL "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2}, \"merges\": [\"a b\"]}"

static void test_files_that_are_wrong_are_refused_by_name(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    refuse("[]", MW_ERROR_FORMAT, "no \"model\"");
    refuse("{\"model\": {\"type\": \"WordLevel\"}}", MW_ERROR_UNSUPPORTED, "WordLevel");
    refuse("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 0}, \"merges\": []}}", MW_ERROR_FORMAT,
           "two tokens have the number 0");
    refuse("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": -1}, \"merges\": []}}", MW_ERROR_FORMAT, "no number");
    refuse("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 1e9}, \"merges\": []}}", MW_ERROR_FORMAT, "no number");
    refuse("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1}, \"merges\": [\"a b\"]}}", MW_ERROR_FORMAT,
           "what they make is no token");
    refuse("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [[\"a\"]]}}", MW_ERROR_FORMAT,
           "merge 0 is no pair");
    refuse("{\"model\": {\"type\": \"Unigram\", \"unk_id\": 7, \"vocab\": [[\"a\", -1.0]]}}", MW_ERROR_FORMAT,
           "the unknown one is number 7");
    refuse("{\"model\": {\"type\": \"WordPiece\", \"unk_token\": \"[UNK]\", \"vocab\": {\"a\": 0}}}", MW_ERROR_FORMAT,
           "unk_token");
    refuse("{" MODEL ", \"normalizer\": {\"type\": \"Odd\"}}", MW_ERROR_UNSUPPORTED, "normalizer \"Odd\"");
    refuse("{" MODEL ", \"pre_tokenizer\": {\"type\": \"Sequence\"}}", MW_ERROR_FORMAT, "Sequence");
    refuse("{" MODEL ", \"decoder\": {\"type\": \"CTC\"}}", MW_ERROR_UNSUPPORTED, "decoder \"CTC\"");
    refuse("{" MODEL ", \"post_processor\": {\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": "
           "{\"id\": \"x\"}}], \"special_tokens\": {}}}",
           MW_ERROR_FORMAT, "\"x\" around a text");
    refuse("{" MODEL ", \"added_tokens\": [{\"id\": 99999999, \"content\": \"x\"}]}", MW_ERROR_FORMAT, "added token");
    folder_leave(folder);
}

/* A file that ends anywhere is refused or is a whole one; never a crash, never a leak. */
static void test_files_that_are_cut_are_refused(void)
{
    char folder[512], *text = NULL;
    size_t size = 0;
    mw_error err = {0};
    REQUIRE(mw__file_read(NULL, VECTORS "t5.json", SIZE_MAX, &text, &size, &err) == MW_OK);
    REQUIRE(folder_enter(folder));
    for (size_t cut = 0; cut < size; cut += cut < 700 ? 1 : 61) {
        mw_error_clear(&err);
        mw__file_write(NULL, "cut.json", text, cut, false, NULL);
        mw_tokenizer *t = mw_tokenizer_open("cut.json", &err);
        CHECK(t == NULL && err.status != MW_OK);
        mw_tokenizer_destroy(t);
    }
    folder_leave(folder);
    mw__free(mw__allocator_default(), text);
}

/* ---- llama2.c ---- */

static size_t put_bin(char *out, size_t at, float score, const char *text)
{
    const uint32_t size = (uint32_t)strlen(text);
    memcpy(out + at, &score, 4);
    memcpy(out + at + 4, &size, 4);
    memcpy(out + at + 8, text, size);
    return at + 8 + size;
}

static size_t make_bin(char *out)
{
    static const char *const pieces[] = {" ", "a", "b", "ab", " a", " ab"};
    size_t at = 4;
    memset(out, 0, 4);
    at = put_bin(out, at, 0.0F, "<unk>");
    at = put_bin(out, at, 0.0F, "\n<s>\n");
    at = put_bin(out, at, 0.0F, "\n</s>\n");
    for (int i = 0; i < 256; i++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", (unsigned)i);
        at = put_bin(out, at, 0.0F, name);
    }
    for (int i = 0; i < 6; i++)
        at = put_bin(out, at, (float)i - 10.0F, pieces[i]);
    return at;
}

static void test_the_vocabulary_of_llama2_c(void)
{
    static char bin[8192];
    char folder[512];
    mw_error err = {0};
    const size_t size = make_bin(bin);
    REQUIRE(folder_enter(folder));
    mw__file_write(NULL, "tokenizer.bin", bin, size, false, &err);
    mw_tokenizer *t = mw_tokenizer_open(".", &err);
    REQUIRE(CHECK_OK(err));
    mw_tokens tokens = encode(t, "abz", 3, NULL);
    REQUIRE(tokens.count == 3);
    CHECK(tokens.ids[0] == 1 && tokens.ids[1] == 264 && tokens.ids[2] == 3 + 'z');
    char *text = NULL;
    text = mw_tokenizer_decode(t, tokens.ids, tokens.count, false, NULL, &err);
    CHECK_STR(text, "abz");
    mw_string_free(text);
    mw_tokens_destroy(&tokens);
    mw_tokenizer_destroy(t);
    mw__file_write(NULL, "tokenizer.bin", bin, size - 3, false, &err);
    CHECK(mw_tokenizer_open("tokenizer.bin", &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "token 264");
    folder_leave(folder);
}

/* ---- time ---- */

static double seconds_of(const mw_tokenizer *t, const char *text, size_t size)
{
    struct timespec a, b;
    double best = 1e9;
    for (int i = 0; i < 3; i++) {
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        mw_tokens tokens = encode(t, text, size, NULL);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        mw_tokens_destroy(&tokens);
        const double took = (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
        best = took < best ? took : best;
    }
    return best;
}

/* Eight times the text takes about eight times as long; what grows with the square takes 64 times. */
static void test_no_text_takes_more_than_its_share(void)
{
    static const char *const forms[] = {"bert", "gemma", "gpt2", "llama2", "llama3", "qwen2", "roberta", "t5"};
    static const char *const units[] = {"a",   " ",         "\n",  "the ", "'", "\xcc\x81", "<", "\xe4\xb8\x80",
                                        "<s>", "e\xcc\x81", "\xff"};
    enum { SMALL = 1 << 15 };
#if defined(__GLIBC__)
    /* Pages stay with the process: on some virtual machines a new one takes as long as 50 tokens. */
    mallopt(M_MMAP_THRESHOLD, 1 << 28);
    mallopt(M_TRIM_THRESHOLD, 1 << 28);
#endif
    char *text = malloc(8 * SMALL);
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        mw_tokenizer *t = open_form(forms[f]);
        for (size_t u = 0; t != NULL && u < sizeof units / sizeof *units; u++) {
            for (size_t i = 0; i < 8 * SMALL; i++)
                text[i] = units[u][i % strlen(units[u])];
            const double small = seconds_of(t, text, SMALL), large = seconds_of(t, text, 8 * SMALL);
            check_note(large < 24.0 * small + 0.02, __FILE__, __LINE__, "%s, \"%s\": %.4f s, then %.4f s", forms[f],
                       units[u], small, large);
        }
        mw_tokenizer_destroy(t);
    }
    free(text);
}

int main(void)
{
    if (!mw__unicode_is_whole()) {
        printf("the library was built without libutf8proc\n");
        return check_finish();
    }
    RUN(test_tokens_are_found_by_text_and_number);
    RUN(test_special_tokens_can_be_left_out_or_be_text);
    RUN(test_byte_level_tokens_give_any_bytes_back);
    RUN(test_every_form_takes_any_bytes);
    RUN(test_streams_give_whole_characters);
    RUN(test_errors_name_the_fault);
    RUN(test_files_that_are_wrong_are_refused_by_name);
    RUN(test_files_that_are_cut_are_refused);
    RUN(test_the_vocabulary_of_llama2_c);
    RUN(test_no_text_takes_more_than_its_share);
    return check_finish();
}
