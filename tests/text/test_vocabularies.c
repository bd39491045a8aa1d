/* Vocabularies of GGUF that this writes piece by piece: what keys change, what is refused, and which of them become a
 * tokenizer.json. */
#include "support/check.h"
#include "support/folder.h"
#include "text/pretrained/save.h"

#include <millwright/text.h>
#include <stdlib.h>

/* A file that is being put together. */
typedef struct vocabulary {
    mw_gguf_value values[16];
    size_t count;
    const char *tokens[12];
    int32_t kinds[12];
    float scores[12];
    size_t size;
    const char *model;
} vocabulary;

static void put_token(vocabulary *v, const char *text, int32_t kind, float score)
{
    v->tokens[v->size] = text;
    v->kinds[v->size] = kind;
    v->scores[v->size++] = score;
}

static void put_value(vocabulary *v, const char *key, const char *type, const void *data)
{
    v->values[v->count++] = (mw_gguf_value){.key = key, .type = type, .data = data};
}

static void put_array(vocabulary *v, const char *key, const char *type, size_t count, const void *data)
{
    v->values[v->count++] = (mw_gguf_value){.key = key, .type = type, .array = true, .count = count, .data = data};
}

/* Whether a file has scores. */
typedef enum scoring { UNSCORED, SCORED } scoring;

static mw_tokenizer *open_vocabulary(vocabulary *v, scoring scores, mw_error *err)
{
    put_value(v, "tokenizer.ggml.model", "string", &v->model);
    put_array(v, "tokenizer.ggml.tokens", "string", v->size, v->tokens);
    put_array(v, "tokenizer.ggml.token_type", "i32", v->size, v->kinds);
    if (scores == SCORED)
        put_array(v, "tokenizer.ggml.scores", "f32", v->size, v->scores);
    mw_gguf_write("tokenizer.gguf", &(mw_gguf_file){.values = v->values, .value_count = v->count}, err);
    return err->status == MW_OK ? mw_tokenizer_open("tokenizer.gguf", err) : NULL;
}

static void check_ids(mw_tokenizer *t, const char *text, const char *wanted)
{
    mw_error err = {0};
    mw_tokens tokens = {0};
    char found[200] = "";
    mw_tokenizer_encode(t, text, strlen(text), NULL, &tokens, &err);
    for (size_t i = 0; i < tokens.count; i++)
        snprintf(found + strlen(found), 12, "%s%d", i > 0 ? " " : "", (int)tokens.ids[i]);
    CHECK_OK(err);
    check_note(strcmp(found, wanted) == 0, __FILE__, __LINE__, "\"%s\" is %s, not %s", text, found, wanted);
    mw_tokens_destroy(&tokens);
}

#define MARK "\xe2\x96\x81"

static const uint32_t ids[] = {0, 1, 2, 3, 4, 99};

/* Kinds as the file numbers them: 1 of a text, 2 unknown, 3 special. */
static vocabulary word_pieces(void)
{
    vocabulary v = {.model = "bert"};
    static const char *const texts[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", MARK "a", MARK "A", "b", MARK "\xc3\xa9"};
    for (size_t i = 0; i < 8; i++)
        put_token(&v, texts[i], 1, 0.0F);
    put_value(&v, "tokenizer.ggml.unknown_token_id", "u32", &ids[1]);
    put_value(&v, "tokenizer.ggml.cls_token_id", "u32", &ids[2]);
    put_value(&v, "tokenizer.ggml.seperator_token_id", "u32", &ids[3]);
    return v;
}

/* ---- what keys say ---- */

static const uint8_t off = 0, on = 1;

static void check_words(const char *key, const uint8_t *value, const char *const wanted[4])
{
    static const char *const texts[] = {"ab", "Ab", "\xc3\xa9", "a [SEP] zz"};
    mw_error err = {0};
    vocabulary v = word_pieces();
    if (key != NULL)
        put_value(&v, key, "bool", value);
    mw_tokenizer *t = open_vocabulary(&v, UNSCORED, &err);
    if (CHECK_OK(err))
        for (size_t i = 0; i < 4; i++)
            check_ids(t, texts[i], wanted[i]);
    mw_tokenizer_destroy(t);
}

/* "é" without its accent is "e", which is no piece. */
static void test_case_accents_and_ends_are_as_the_keys_say(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    check_words(NULL, NULL, (const char *const[]){"2 4 6 3", "2 4 6 3", "2 1 3", "2 4 3 1 3"});
    check_words("tokenizer.ggml.normalizer.lowercase", &off,
                (const char *const[]){"2 4 6 3", "2 5 6 3", "2 7 3", "2 4 3 1 3"});
    check_words("tokenizer.ggml.normalizer.strip_accents", &off,
                (const char *const[]){"2 4 6 3", "2 4 6 3", "2 7 3", "2 4 3 1 3"});
    check_words("tokenizer.ggml.add_sep_token", &off, (const char *const[]){"2 4 6", "2 4 6", "2 1", "2 4 3 1"});
    check_words("tokenizer.ggml.add_bos_token", &off, (const char *const[]){"4 6 3", "4 6 3", "1 3", "4 3 1 3"});
    folder_leave(folder);
}

static vocabulary scored_pieces(void)
{
    vocabulary v = {.model = "t5"};
    put_token(&v, "<pad>", 3, 0.0F);
    put_token(&v, "</s>", 3, 0.0F);
    put_token(&v, "<unk>", 2, 0.0F);
    put_token(&v, "a", 1, -2.0F);
    put_token(&v, "b", 1, -2.0F);
    put_token(&v, "ab", 1, -3.0F);
    put_token(&v, MARK, 1, -1.5F);
    return v;
}

/* Without keys: no mark in front, no space is lost, </s> behind. */
static void test_spaces_of_unigram_are_as_the_keys_say(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    vocabulary v = scored_pieces();
    mw_tokenizer *t = open_vocabulary(&v, SCORED, &err);
    REQUIRE(CHECK_OK(err));
    check_ids(t, "ab  z", "5 6 6 2 1");
    mw_tokenizer_destroy(t);
    v = scored_pieces();
    put_value(&v, "tokenizer.ggml.add_space_prefix", "bool", &on);
    put_value(&v, "tokenizer.ggml.remove_extra_whitespaces", "bool", &on);
    put_value(&v, "tokenizer.ggml.add_eos_token", "bool", &off);
    t = open_vocabulary(&v, SCORED, &err);
    REQUIRE(CHECK_OK(err));
    check_ids(t, " ab  z ", "6 5 6 2");
    mw_tokenizer_destroy(t);
    folder_leave(folder);
}

/* ---- what is refused ---- */

static void refuse(vocabulary v, scoring scores, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_tokenizer *t = open_vocabulary(&v, scores, &err);
    CHECK(t == NULL);
    CHECK_ERROR(err, status, part);
    mw_tokenizer_destroy(t);
}

static void refuse_table(const char *type, size_t count, const void *data, const char *part)
{
    vocabulary v = scored_pieces();
    put_array(&v, "tokenizer.ggml.precompiled_charsmap", type, count, data);
    refuse(v, SCORED, MW_ERROR_FORMAT, part);
}

static void test_vocabularies_that_do_not_hold_together_are_refused(void)
{
    char folder[512];
    vocabulary v = word_pieces();
    REQUIRE(folder_enter(folder));
    v.values[0].key = "tokenizer.ggml.other";
    refuse(v, UNSCORED, MW_ERROR_FORMAT, "unknown_token_id");
    v = word_pieces();
    v.values[1].data = &ids[5];
    refuse(v, UNSCORED, MW_ERROR_FORMAT, "99");
    v = scored_pieces();
    refuse(v, UNSCORED, MW_ERROR_FORMAT, "no scores");
    v.model = "rwkv";
    refuse(v, SCORED, MW_ERROR_UNSUPPORTED, "rwkv");
    v = scored_pieces();
    put_token(&v, "gone", 5, 0.0F);
    put_value(&v, "tokenizer.ggml.eos_token_id", "u32", &(uint32_t){7});
    refuse(v, SCORED, MW_ERROR_FORMAT, "the token 7 is put around a text");
    static const uint8_t bytes[] = {8, 0, 0, 0, 1, 2, 3};
    refuse_table("u8", sizeof bytes, bytes, "table of characters");
    refuse_table("u8", 2, bytes, "table of characters");
    refuse_table("u32", 6, ids, "not of bytes");
    folder_leave(folder);
}

/* ---- tokenizer.json ---- */

static vocabulary merged_pieces(float second)
{
    vocabulary v = {.model = "llama"};
    put_token(&v, "<unk>", 2, 0.0F);
    put_token(&v, "<s>", 3, 0.0F);
    put_token(&v, "</s>", 3, 0.0F);
    put_token(&v, "a", 1, -10.0F);
    put_token(&v, "b", 1, -11.0F);
    put_token(&v, MARK, 1, -12.0F);
    put_token(&v, "ab", 1, -1.0F);
    put_token(&v, "ba", 1, second);
    put_token(&v, MARK "a", 1, -3.0F);
    put_value(&v, "tokenizer.ggml.bos_token_id", "u32", &ids[1]);
    return v;
}

/* Of equal scores the pair to the left merges first, which no rank says. */
static void test_scores_become_merges_unless_two_are_equal(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    vocabulary v = merged_pieces(-2.0F);
    mw_tokenizer *t = open_vocabulary(&v, SCORED, &err);
    mw__saving_tokenizer_json(t, "tokenizer.json", &err);
    mw_tokenizer *written = mw_tokenizer_open("tokenizer.json", &err);
    REQUIRE(CHECK_OK(err));
    check_ids(t, "abab ba", "1 5 6 6 5 7");
    check_ids(written, "abab ba", "1 5 6 6 5 7");
    mw_tokenizer_destroy(written);
    mw_tokenizer_destroy(t);
    v = merged_pieces(-1.0F);
    t = open_vocabulary(&v, SCORED, &err);
    REQUIRE(CHECK_OK(err));
    mw__saving_tokenizer_json(t, "other.json", &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "6 and 7 have one score");
    mw_tokenizer_destroy(t);
    folder_leave(folder);
}

static void refuse_json(vocabulary v, scoring scores, const char *part)
{
    mw_error err = {0};
    mw_tokenizer *t = open_vocabulary(&v, scores, &err);
    REQUIRE(CHECK_OK(err));
    mw__saving_tokenizer_json(t, "other.json", &err);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, part);
    mw_tokenizer_destroy(t);
}

static void test_what_tokenizer_json_has_no_form_for_is_refused(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    vocabulary v = merged_pieces(-2.0F);
    put_token(&v, "xy", 1, -4.0F); /* whose letters are none */
    refuse_json(v, SCORED, "a character of token 9");
    v = merged_pieces(-2.0F);
    put_token(&v, "ab", 3, 0.0F); /* a special token with the text of a piece */
    refuse_json(v, SCORED, "token 9 is there twice");
    v = scored_pieces();
    put_token(&v, "a", 1, -9.0F);
    refuse_json(v, SCORED, "token 7 is there twice");
    v = scored_pieces();
    put_token(&v, "x", 5, 0.0F); /* unused: a gap */
    put_token(&v, "y", 1, -4.0F);
    refuse_json(v, SCORED, "Unigram has no token 7");
    mw_error err = {0};
    mw_tokenizer *t = mw_tokenizer_open(MW_TESTS_DIR "/text/vectors/spm_unigram.model", &err);
    REQUIRE(CHECK_OK(err));
    mw__saving_tokenizer_json(t, "other.json", &err); /* its special tokens are in no text */
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "found in no text");
    mw_tokenizer_destroy(t);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_case_accents_and_ends_are_as_the_keys_say);
    RUN(test_spaces_of_unigram_are_as_the_keys_say);
    RUN(test_vocabularies_that_do_not_hold_together_are_refused);
    RUN(test_scores_become_merges_unless_two_are_equal);
    RUN(test_what_tokenizer_json_has_no_form_for_is_refused);
    return check_finish();
}
