/* Vocabularies that are learned: merges are those of Hugging Face's engine (recorded), those of counting all pairs anew
 * each time, and what is written is read back and says the text again. */
#include "base/file/file.h"
#include "base/number/random.h"
#include "base/text/text.h"
#include "support/check.h"
#include "support/folder.h"
#include "text/train/train.h"

#include <millwright/tokenizer.h>
#include <stdlib.h>
#include <string.h>

/* ---- counted anew ---- */

enum { SYMBOLS = 4096, TOKENS = 700 };

typedef struct naive {
    int ids[SYMBOLS], words[SYMBOLS], count; /* a symbol of each word of the text, in order, words apart */
    char tokens[TOKENS][64];                 /* as files spell them; what is learned is from 256 on */
    int token_count;
} naive;

static int most_frequent(const naive *n, int least, int *left, int *right)
{
    static int times[TOKENS][TOKENS];
    int best = 0;
    memset(times, 0, sizeof times);
    for (int i = 0; i + 1 < n->count; i++)
        if (n->words[i] == n->words[i + 1])
            times[n->ids[i]][n->ids[i + 1]]++;
    for (int a = 0; a < n->token_count; a++)
        for (int b = 0; b < n->token_count; b++)
            if (times[a][b] > best) {
                best = times[a][b];
                *left = a;
                *right = b;
            }
    return best >= least ? best : 0;
}

static void merge_all(naive *n, int left, int right, int made)
{
    int to = 0;
    for (int i = 0; i < n->count; i++, to++) {
        const bool here =
            i + 1 < n->count && n->ids[i] == left && n->ids[i + 1] == right && n->words[i] == n->words[i + 1];
        n->words[to] = n->words[i];
        n->ids[to] = here ? made : n->ids[i];
        i += here;
    }
    n->count = to;
}

static void begin_naive(naive *n, const char *text, size_t size, const char *pattern)
{
    mw__scanner *scan = mw__scanner_of(mw__scanner_pattern(pattern));
    int id_of[256 + 68] = {0}, word = 0;
    n->count = n->token_count = 0;
    for (int code = 0; code < 256 + 68; code++)
        for (int byte = 0; byte < 256; byte++)
            if (mw__bpe_learned_code(byte) == (uint32_t)code)
                id_of[byte] = n->token_count++;
    for (size_t at = 0; at < size; word++)
        for (size_t end = at + scan(text + at, text + size); at < end; at++, n->count++) {
            n->ids[n->count] = id_of[(unsigned char)text[at]];
            n->words[n->count] = word;
        }
}

/* A text of few letters has many pairs that come equally often, and runs of one letter. */
static size_t draw_text(mw__random *random, char text[SYMBOLS], size_t letters)
{
    const size_t size = 200 + (size_t)mw__random_below(random, 1800);
    for (size_t i = 0; i < size; i++)
        text[i] = "ab cd\nef1'ghij"[mw__random_below(random, letters)];
    return size;
}

static void check_naive(const char *text, size_t size, const char *pattern, int least)
{
    static naive n;
    mw_error err = {0};
    mw_tokenizer_train_options o = mw_tokenizer_train_defaults();
    o.special_count = 0;
    o.count = 300;
    o.least = least;
    o.pattern = pattern;
    mw_tokenizer_train(text, size, &o, "tokenizer.json", &err);
    mw_tokenizer *t = mw_tokenizer_open("tokenizer.json", &err);
    mw_tokens tokens = {0};
    mw_tokenizer_encode(t, text, size, NULL, &tokens, &err);
    begin_naive(&n, text, size, pattern);
    for (int left = 0, right = 0; n.token_count < 300 && most_frequent(&n, least, &left, &right) > 0; n.token_count++)
        merge_all(&n, left, right, n.token_count);
    CHECK_INT(mw_tokenizer_get_info(t).count, n.token_count);
    bool same = tokens.count == (size_t)n.count;
    for (size_t i = 0; same && i < tokens.count; i++)
        same = tokens.ids[i] == n.ids[i];
    CHECK(same);
    CHECK_OK(err);
    mw_tokens_destroy(&tokens);
    mw_tokenizer_destroy(t);
}

static void test_merges_are_those_of_counting_anew(void)
{
    static const char *const patterns[] = {"gpt2", "cl100k", "qwen2", "o200k"};
    char folder[512], text[SYMBOLS];
    mw__random random = {.seed = 3, .stream = 5};
    REQUIRE(folder_enter(folder));
    for (int i = 0; i < 60; i++) {
        const size_t size = draw_text(&random, text, 2 + (size_t)i % 13);
        check_naive(text, size, patterns[i % 4], 1 + i % 3);
    }
    folder_leave(folder);
}

/* ---- another engine ---- */

static char *read_text(const char *name, size_t *size)
{
    char path[600], *text = NULL;
    mw_error err = {0};
    snprintf(path, sizeof path, MW_TESTS_DIR "/text/%s", name);
    mw__file_read(mw__allocator_default(), path, SIZE_MAX / 2, &text, size, &err);
    CHECK_OK(err);
    return text;
}

/* vectors/learned.merges: what npm @anush008/tokenizers 0.6.0 learns from learned.txt, by engine_train.mjs. */
static void test_merges_are_those_of_another_engine(void)
{
    char folder[512], *made = NULL;
    size_t size = 0, wanted_size = 0, made_size = 0;
    mw_error err = {0};
    char *text = read_text("vectors/learned.txt", &size), *wanted = read_text("vectors/learned.merges", &wanted_size);
    REQUIRE(text != NULL && wanted != NULL && folder_enter(folder));
    mw_tokenizer_train_options o = mw_tokenizer_train_defaults();
    o.count = 100000;
    o.least = 1;
    mw_tokenizer_train(text, size, &o, "tokenizer.json", &err);
    mw__file_read(mw__allocator_default(), "tokenizer.json", SIZE_MAX / 2, &made, &made_size, &err);
    REQUIRE(CHECK_OK(err));
    const char *found = strstr(made, "\"merges\": [\n");
    CHECK(found != NULL && strncmp(found + 12, wanted, wanted_size) == 0);
    mw__free(mw__allocator_default(), text);
    mw__free(mw__allocator_default(), wanted);
    mw__free(mw__allocator_default(), made);
    folder_leave(folder);
}

/* ---- there and back ---- */

static void test_every_byte_comes_back(void)
{
    static const char *const special[] = {"<|endoftext|>", "<pad>"};
    char folder[512], bytes[4096];
    mw_error err = {0};
    mw__random random = {.seed = 1, .stream = 2};
    mw_tokenizer_train_options o = mw_tokenizer_train_defaults();
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i < 256 ? i : mw__random_below(&random, 256));
    o.special = special;
    o.special_count = 2;
    o.count = 400;
    mw_tokenizer_train(bytes, sizeof bytes, &o, "tokenizer.json", &err);
    mw_tokenizer *t = mw_tokenizer_open("tokenizer.json", &err);
    mw_tokens tokens = {0};
    size_t size = 0;
    mw_tokenizer_encode(t, bytes, sizeof bytes, NULL, &tokens, &err);
    char *back = mw_tokenizer_decode(t, tokens.ids, tokens.count, true, &size, &err);
    REQUIRE(CHECK_OK(err));
    CHECK(size == sizeof bytes && memcmp(back, bytes, size) == 0);
    CHECK_INT(mw_tokenizer_id(t, "<pad>"), 1);
    CHECK(mw_tokenizer_is_special(t, 1));
    CHECK_INT(mw_tokenizer_id(t, "!"), 2); /* the first of the bytes that print */
    mw_string_free(back);
    mw_tokens_destroy(&tokens);
    mw_tokenizer_destroy(t);
    folder_leave(folder);
}

/* A word that nothing cuts is no reason for more than a few times its length. */
static void test_long_words_take_no_longer(void)
{
    enum { LONG = 2000000 };
    char folder[512], *text = malloc(LONG);
    mw_error err = {0};
    mw__random random = {.seed = 4, .stream = 4};
    REQUIRE(text != NULL && folder_enter(folder));
    for (size_t i = 0; i < LONG; i++)
        text[i] = (char)('a' + mw__random_below(&random, i < LONG / 2 ? 1 : 26));
    mw_tokenizer_train_options o = mw_tokenizer_train_defaults();
    o.count = 4000;
    mw_tokenizer_train(text, LONG, &o, "tokenizer.json", &err);
    CHECK_OK(err);
    free(text);
    folder_leave(folder);
}

/* ---- what is refused ---- */

static void refuse(const mw_tokenizer_train_options *o, const char *part)
{
    mw_error err = {0};
    mw_tokenizer_train("abc", 3, o, "tokenizer.json", &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, part);
}

static void test_what_cannot_be_learned_is_refused(void)
{
    static const char *const twice[] = {"<a>", "<a>"}, *const one[] = {"a"}, *const broken[] = {"\xff\xfe"};
    mw_tokenizer_train_options o = mw_tokenizer_train_defaults();
    o.count = 256;
    refuse(&o, "from 257");
    o.count = 300;
    o.least = 0;
    refuse(&o, "1 is the least");
    o.least = 1;
    o.pattern = "words";
    refuse(&o, "o200k");
    o.pattern = "gpt2";
    o.special = twice;
    o.special_count = 2;
    refuse(&o, "two special tokens");
    o.special_count = 1;
    o.special = one;
    refuse(&o, "2 bytes");
    o.special = broken;
    refuse(&o, "UTF-8");
    mw_error err = {0};
    mw_tokenizer_train("abc", 3, NULL, "nowhere/tokenizer.json", &err);
    CHECK_ERROR(err, MW_ERROR_FILE, "nowhere");
}

int main(void)
{
    RUN(test_merges_are_those_of_counting_anew);
    RUN(test_merges_are_those_of_another_engine);
    RUN(test_every_byte_comes_back);
    RUN(test_long_words_take_no_longer);
    RUN(test_what_cannot_be_learned_is_refused);
    return check_finish();
}
