/* SentencePiece's own models against what its tools made of the same lines: spm_encode and spm_decode of Debian's
 * sentencepiece 0.1.97, models of 600 pieces trained by spm_train with byte fallback and no normalization. With
 * MW_TEXT_VECTORS, that folder's NAME.model and NAME.lines instead. */
#include "base/file/file.h"
#include "support/check.h"
#include "text/json/tree.h"
#include "text/tokenizer/tokenizer.h"

#include <millwright/text.h>
#include <stdlib.h>

typedef struct spm_tally {
    long lines, ids, decoded;
} spm_tally;

static bool ids_agree(const mw_tokens *tokens, const mw__json_node *ids)
{
    size_t i = 0;
    for (const mw__json_node *id = ids->first; id != NULL; id = id->next, i++)
        if (i >= tokens->count || tokens->ids[i] != (int32_t)id->number)
            return false;
    return i == tokens->count;
}

static void check_line(const mw_tokenizer *t, const mw__json_node *row, spm_tally *tally)
{
    mw_error err = {0};
    mw_tokens tokens = {0};
    char *decoded = NULL;
    const mw__json_node *text = mw__tree_find(row, "text");
    mw_tokenizer_encode(t, text->text, text->length, NULL, &tokens, &err);
    decoded = mw_tokenizer_decode(t, tokens.ids, tokens.count, false, NULL, &err);
    CHECK_OK(err);
    const bool same = ids_agree(&tokens, mw__tree_find(row, "ids"));
    const bool back = decoded != NULL && strcmp(decoded, mw__tree_text(row, "decoded")) == 0;
    if (!(same && back) && tally->ids + 5 > tally->lines)
        printf("\"%s\" decoded \"%s\"\n", text->text, decoded);
    tally->lines++;
    tally->ids += same;
    tally->decoded += back;
    mw_string_free(decoded);
    mw_tokens_destroy(&tokens);
}

static void check_model(const char *name)
{
    const char *given = getenv("MW_TEXT_VECTORS"), *folder = given != NULL ? given : MW_TESTS_DIR "/text/vectors";
    char path[512], *lines = NULL;
    size_t size = 0;
    mw_error err = {0};
    spm_tally tally = {0};
    snprintf(path, sizeof path, "%s/%s.model", folder, name);
    mw_tokenizer *t = mw_tokenizer_open(path, &err);
    snprintf(path, sizeof path, "%s/%s.lines", folder, name);
    REQUIRE(t != NULL && mw__file_read(NULL, path, SIZE_MAX, &lines, &size, &err) == MW_OK);
    for (char *at = lines, *end; at < lines + size; at = end + 1) {
        mw__arena arena;
        end = memchr(at, '\n', (size_t)(lines + size - at));
        mw__arena_init(&arena, NULL);
        const mw__json_node *row = mw__tree_read(&arena, at, (size_t)(end - at), &err);
        if (CHECK_OK(err))
            check_line(t, row, &tally);
        mw__arena_deinit(&arena);
    }
    printf("%s: %ld lines, ids %ld, decoded %ld\n", name, tally.lines, tally.ids, tally.decoded);
    CHECK(tally.lines > 0 && tally.ids == tally.lines && tally.decoded == tally.lines);
    mw__free(mw__allocator_default(), lines);
    mw_tokenizer_destroy(t);
}

static void test_pieces_are_those_of_sentencepiece(void)
{
    check_model("spm_unigram");
    check_model("spm_bpe");
}

/* Every file that ends too early is refused or has fewer pieces; never a crash. */
static void test_models_that_are_cut(void)
{
    char *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    REQUIRE(mw__file_read(NULL, MW_TESTS_DIR "/text/vectors/spm_bpe.model", SIZE_MAX, &data, &size, &err) == MW_OK);
    for (size_t cut = 0; cut < size; cut += cut < 400 ? 1 : 37) {
        mw_error_clear(&err);
        char *copy = malloc(cut > 0 ? cut : 1); /* of its size, so that a sanitizer sees what is read behind it */
        memcpy(copy, data, cut);
        mw_tokenizer *t = mw__read_sentencepiece(copy, cut, &err);
        CHECK((t != NULL) == (err.status == MW_OK));
        mw_tokenizer_destroy(t);
        free(copy);
    }
    mw__free(mw__allocator_default(), data);
}

int main(void)
{
    RUN(test_pieces_are_those_of_sentencepiece);
    RUN(test_models_that_are_cut);
    return check_finish();
}
