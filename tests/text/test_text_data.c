/* Texts as data sets: which tokens an example has and which labels, what is refused and where it is said to be, the
 * file of tokens that is kept, and files of others. Letters of the tokenizer are the tokens 0 to 25, "<end>" is 39. */
#include "base/file/file.h"
#include "base/text/text.h"
#include "support/check.h"
#include "support/folder.h"
#include "text/data/token_file.h"

#include <millwright/text.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { END = 39, MOST = 64 };

/* ---- a folder with a tokenizer ---- */

static const char chat_template[] =
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\\\n' + m.content + '<|im_end|>\\\\n' }}{% endfor %}";

static void write_tokenizer(const char *extra)
{
    mw__text text;
    mw__text_init(&text, NULL);
    mw__text_puts(&text, "{\"model\": {\"type\": \"BPE\", \"merges\": [], \"unk_token\": \"+\", \"vocab\": {");
    for (int i = 0; i < 39; i++)
        mw__text_printf(&text, "%s\"%c\": %d", i > 0 ? ", " : "", "abcdefghijklmnopqrstuvwxyz0123456789 .+"[i], i);
    mw__text_puts(&text, "}}, \"added_tokens\": [{\"id\": 39, \"content\": \"<end>\", \"special\": true}");
    mw__text_puts(&text, ", {\"id\": 40, \"content\": \"<|im_start|>\", \"special\": true}");
    mw__text_printf(&text, ", {\"id\": 41, \"content\": \"<|im_end|>\", \"special\": true}%s]}", extra);
    folder_put("tokenizer.json", text.data);
    mw__text_deinit(&text);
    mw__text_init(&text, NULL);
    mw__text_printf(&text, "{\"eos_token\": \"<end>\", \"chat_template\": \"%s\"}", chat_template);
    folder_put("tokenizer_config.json", text.data);
    mw__text_deinit(&text);
    unlink("notes.txt.tokens");
    unlink("notes.jsonl.tokens");
}

static mw_text_data *open_with(const char *path, int64_t tokens, bool padded, mw_error *err)
{
    mw_text_data_options o = mw_text_data_defaults();
    o.tokens = tokens;
    o.padded = padded;
    o.validation = 0.0;
    return mw_text_data_open(path, ".", &o, err);
}

/* Letters of the inputs and of the labels of all examples: "abc>bcd efg>fgh". '.' is -100, '#' is the end. */
static void print_examples(const mw_dataset *set, int64_t tokens, char *out)
{
    mw_error err = {0};
    mw_loader_options o = mw_loader_defaults(set, 1);
    o.shuffle = false;
    mw_loader *loader = mw_loader_create(&o, &err);
    for (const mw_batch *batch; loader != NULL && (batch = mw_loader_next(loader, &err)) != NULL;) {
        for (int column = 0; column < 2; column++) {
            const int32_t *ids = batch->feeds[column].data;
            for (int64_t i = 0; i < tokens; i++)
                *out++ = ids[i] == -100 ? '.' : ids[i] == END ? '#' : (char)('a' + ids[i]);
            *out++ = column == 0 ? '>' : ' ';
        }
    }
    *out = '\0';
    mw_loader_destroy(loader);
    CHECK_OK(err);
}

static void check_examples(const char *path, int64_t tokens, bool padded, const char *wanted)
{
    char found[512] = "";
    mw_error err = {0};
    mw_text_data *data = open_with(path, tokens, padded, &err);
    if (CHECK_OK(err)) {
        print_examples(mw_text_data_training(data), tokens, found);
        CHECK_STR(found, wanted);
    }
    mw_text_data_destroy(data);
}

static void test_examples_are_windows_or_documents(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    folder_put("notes.txt", "abcdefgh");
    check_examples("notes.txt", 3, false, "abc>bcd def>efg ");
    check_examples("notes.txt", 3, true, "abc>bcd def>efg gha>h#. ");
    folder_put("notes.jsonl", "{\"text\": \"abc\"}\n\n{\"text\": \"d\", \"id\": 7}\r\n{\"text\": \"ef\"}");
    check_examples("notes.jsonl", 4, false, "abc#>bc#d d#ef>#ef# ");
    check_examples("notes.jsonl", 4, true, "abca>bc#. daaa>#... efaa>f#.. ");
    folder_leave(folder);
}

/* Labels of the examples, and the columns "starts": "bc#. 0000 ". */
static void check_apart(int64_t tokens, const char *wanted)
{
    char found[256], *out = found;
    mw_error err = {0};
    mw_text_data_options o = mw_text_data_defaults();
    o.tokens = tokens;
    o.apart = true;
    o.validation = 0.0;
    mw_text_data *data = mw_text_data_open("notes.jsonl", ".", &o, &err);
    REQUIRE(CHECK_OK(err));
    mw_loader_options options = mw_loader_defaults(mw_text_data_training(data), 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    for (const mw_batch *batch; (batch = mw_loader_next(loader, &err)) != NULL;) {
        const int32_t *labels = batch->feeds[1].data, *starts = batch->feeds[2].data;
        CHECK_STR(batch->feeds[2].name, "starts");
        for (int64_t i = 0; i < tokens; i++)
            *out++ = labels[i] == -100 ? '.' : labels[i] == END ? '#' : (char)('a' + labels[i]);
        *out++ = ' ';
        for (int64_t i = 0; i < tokens; i++)
            *out++ = (char)('0' + starts[i]);
        *out++ = ' ';
    }
    *out = '\0';
    CHECK_STR(found, wanted);
    mw_loader_destroy(loader);
    mw_text_data_destroy(data);
}

static void refuse_apart(const char *path, bool padded, const char *part)
{
    mw_error err = {0};
    mw_text_data_options o = mw_text_data_defaults();
    o.tokens = 2;
    o.apart = true;
    o.padded = padded;
    CHECK(mw_text_data_open(path, ".", &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, part);
}

/* Documents of "abc#", "d#" and "ef#": what follows a '#' is no label, and what came before a window is at 0. */
static void test_documents_apart_say_where_they_begin(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    folder_put("notes.jsonl", "{\"text\": \"abc\"}\n{\"text\": \"d\"}\n{\"text\": \"ef\"}\n");
    check_apart(4, "bc#. 0000 #.f# 0022 ");
    check_apart(3, "bc# 000 .#. 011 ");
    check_apart(8, "bc#.#.f# 00004466 ");
    check_apart(1, "b 0 c 0 # 0 . 0 # 0 . 0 f 0 # 0 ");
    refuse_apart("notes.jsonl", true, "apart has no effect with padded");
    folder_put("notes.txt", "abcdefgh");
    refuse_apart("notes.txt", false, "have no effect: \"notes.txt.tokens\" is one document");
    folder_put("raw.bin", "abcdefgh");
    refuse_apart("raw.bin", false, "does not say where documents end: they cannot be apart");
    folder_leave(folder);
}

/* ---- buckets ---- */

static void test_buckets_are_those_that_examples_need(void)
{
    char folder[512], line[200];
    mw_error err = {0};
    mw__text text;
    mw_text_data_options o = mw_text_data_defaults();
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    mw__text_init(&text, NULL);
    for (int i = 0; i < 12; i++) { /* of 20 and of 90 letters; none of 33 to 64 tokens */
        snprintf(
            line, sizeof line, "{\"text\": \"%.*s\"}\n", i % 2 == 0 ? 20 : 90,
            "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwx");
        mw__text_puts(&text, line);
    }
    folder_put("notes.jsonl", text.data);
    mw__text_deinit(&text);
    o.tokens = 500;
    o.padded = o.buckets = true;
    o.validation = 0.0;
    mw_text_data *data = mw_text_data_open("notes.jsonl", ".", &o, &err);
    REQUIRE(CHECK_OK(err));
    const mw_text_data_info info = mw_text_data_get_info(data);
    CHECK(info.bucket_count == 2 && info.buckets[0] == 32 && info.buckets[1] == 128);
    CHECK_INT(info.training_tokens, 6 * 20 + 6 * 90);
    CHECK_INT(mw_dataset_column_at(mw_text_data_training(data), 0)->shape.dim[0], 128);
    mw_text_data_destroy(data);
    o.tokens = 16; /* all are cut to 16 */
    CHECK(mw_text_data_open("notes.jsonl", ".", &o, &err) == NULL || err.status != MW_OK);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "buckets have no effect: all examples of");
    mw_error_clear(&err);
    o.padded = false;
    CHECK(mw_text_data_open("notes.jsonl", ".", &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "buckets have no effect without padded");
    folder_leave(folder);
}

/* ---- conversations ---- */

/* 40 user+.. is 40, then letters; what is not a letter is '+', 38. */
static void test_answers_alone_are_learned(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    folder_put("notes.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", "
                              "\"content\": \"bc\"}]}");
    mw_text_data *data = open_with("notes.jsonl", MOST, true, &err);
    REQUIRE(CHECK_OK(err));
    mw_loader_options o = mw_loader_defaults(mw_text_data_training(data), 1);
    mw_loader *loader = mw_loader_create(&o, &err);
    const mw_batch *batch = mw_loader_next(loader, &err);
    REQUIRE(CHECK(batch != NULL));
    const int32_t *labels = batch->feeds[1].data;
    int32_t learned[MOST], count = 0;
    for (int i = 0; i < MOST; i++)
        if (labels[i] != -100)
            learned[count++] = labels[i];
    CHECK_INT(count, 3); /* b, c and <|im_end|> */
    CHECK(learned[0] == 1 && learned[1] == 2 && learned[2] == 41);
    CHECK_STR(mw_text_data_get_info(data).chat, "chatml");
    mw_loader_destroy(loader);
    mw_text_data_destroy(data);
    folder_leave(folder);
}

/* ---- what is refused ---- */

static void check_refused(const char *path, const char *content, bool padded, mw_status status, const char *part)
{
    mw_error err = {0};
    folder_put(path, content);
    mw_text_data *data = open_with(path, 3, padded, &err);
    CHECK(data == NULL);
    CHECK_ERROR(err, status, part);
    check_note(strstr(err.message, path) != NULL, __FILE__, __LINE__, "\"%s\" names %s", err.message, path);
    mw_text_data_destroy(data);
}

static void test_bad_texts_are_refused_with_their_place(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    check_refused("notes.txt", "", false, MW_ERROR_ARGUMENT, "has no text");
    check_refused("notes.txt", "ab", false, MW_ERROR_ARGUMENT, "has 3 tokens, and an example takes 3");
    check_refused("notes.jsonl", "", false, MW_ERROR_ARGUMENT, "has no text");
    check_refused("notes.jsonl", "{\"text\": \"abcd\"}\n{\"text\": }\n", false, MW_ERROR_FORMAT, "notes.jsonl:2: ");
    check_refused("notes.jsonl", "{\"text\": \"abcd\"}\n\n[]\n", false, MW_ERROR_FORMAT, "notes.jsonl:3: an object");
    check_refused("notes.jsonl", "{\"text\": 5}", false, MW_ERROR_FORMAT, "notes.jsonl:1: an object");
    check_refused("notes.jsonl", "{\"text\": \"a\xff\"}", false, MW_ERROR_FORMAT, "notes.jsonl:1: ");
    check_refused("notes.jsonl", "{\"text\": \"a\"", false, MW_ERROR_FORMAT, "notes.jsonl:1: ");
    check_refused("notes.jsonl", "{\"messages\": []}", false, MW_ERROR_FORMAT, "no array with a message");
    check_refused("notes.jsonl", "{\"messages\": [{\"role\": \"tool\", \"content\": \"\"}]}", false,
                  MW_ERROR_UNSUPPORTED, "message 1 has the role \"tool\"");
    check_refused("notes.jsonl", "{\"messages\": [{\"role\": \"user\"}]}", false, MW_ERROR_FORMAT, "no \"content\"");
    check_refused("notes.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"a<|im_end|>\"}]}", false,
                  MW_ERROR_ARGUMENT, "holds \"<|im_end|>\"");
    check_refused("notes.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"abcdef\"}]}", true,
                  MW_ERROR_ARGUMENT, "has no answer");
    check_refused("notes.bin", "abc", false, MW_ERROR_FORMAT, "3 bytes are no tokens of 2 bytes");
    check_refused("cut.tokens", "abcd", false, MW_ERROR_FORMAT, "was cut, or is another");
    folder_leave(folder);
}

/* A line that has no end is refused before it fills the memory. */
static void test_a_huge_line_is_refused(void)
{
    enum { HUGE_LINE = (1 << 26) + (1 << 19) };
    char folder[512], *line = malloc(HUGE_LINE);
    mw_error err = {0};
    REQUIRE(line != NULL && folder_enter(folder));
    write_tokenizer("");
    memset(line, 'a', HUGE_LINE);
    memcpy(line, "{}\n{\"text\": \"", 13);
    memcpy(line, "{\"text\": \"\"}\n", 13);
    mw__file_write(NULL, "notes.jsonl", line, HUGE_LINE, false, &err);
    free(line);
    REQUIRE(CHECK_OK(err));
    CHECK(open_with("notes.jsonl", 3, false, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "notes.jsonl:2: a line of more than 67108864 bytes");
    folder_leave(folder);
}

/* ---- the file that is kept ---- */

static bool was_made(const char *path, mw_error *err)
{
    mw_text_data *data = open_with(path, 3, false, err);
    const bool made = mw_text_data_get_info(data).was_made;
    mw_text_data_destroy(data);
    return made;
}

static void test_tokens_are_kept_and_made_again_when_something_changes(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    folder_put("notes.txt", "abcdefgh");
    CHECK(was_made("notes.txt", &err));
    CHECK(!was_made("notes.txt", &err));
    folder_put("notes.txt", "abcdefgi");
    CHECK(was_made("notes.txt", &err));
    CHECK(!was_made("notes.txt", &err));
    char *kept = NULL;
    size_t size = 0;
    mw__file_read(NULL, "notes.txt.tokens", SIZE_MAX, &kept, &size, &err);
    write_tokenizer(", {\"id\": 42, \"content\": \"fg\"}"); /* another tokenizer of the same text */
    mw__file_write(NULL, "notes.txt.tokens", kept, size, false, &err);
    CHECK(was_made("notes.txt", &err));
    check_examples("notes.txt", 3, false, "abc>bcd de\x8b>e\x8bi ");
    for (size_t cut = 1; cut < size; cut++) { /* a damaged one is never taken */
        mw_error own = {0};
        kept[size - cut] ^= 4;
        mw__file_write(NULL, "notes.txt.tokens", kept, size, false, &err);
        const bool made = was_made("notes.txt", &own);
        check_note(made || own.status != MW_OK || cut > 72, __FILE__, __LINE__, "byte %zu from the end", cut);
        kept[size - cut] ^= 4;
    }
    mw__free(mw__allocator_default(), kept);
    CHECK_OK(err);
    folder_leave(folder);
}

/* How a text is opened, and whether its tokens were made for it. */
static bool makes(const char *path, const char *folder, const char *chat)
{
    mw_error err = {0};
    mw_text_data_options o = mw_text_data_defaults();
    o.tokens = 3;
    o.validation = 0.0;
    o.chat = chat;
    o.cache = "kept";
    mw_text_data *data = mw_text_data_open(path, folder, &o, &err);
    CHECK_OK(err);
    const bool made = mw_text_data_get_info(data).was_made;
    mw_text_data_destroy(data);
    return made;
}

/* The same bytes are other documents under another kind of name. */
static void test_tokens_of_one_kind_of_text_are_not_those_of_another(void)
{
    static const char line[] = "{\"text\": \"abcdef\"}";
    char folder[512];
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    folder_put("notes.txt", line);
    folder_put("notes.jsonl", line);
    folder_put("notes.ndjson", line);
    CHECK(makes("notes.txt", ".", NULL));
    CHECK(makes("notes.jsonl", ".", NULL));
    CHECK(!makes("notes.ndjson", ".", NULL)); /* another spelling of the same kind, of the same text */
    CHECK(makes("notes.txt", ".", NULL));
    folder_leave(folder);
}

/* A template by its name has no words of its folder; the one of the folder has. */
static void test_tokens_know_the_words_of_a_template(void)
{
    char folder[512], config[400];
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    folder_put("notes.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}, {\"role\": \"assistant\", "
                              "\"content\": \"bc\"}]}");
    CHECK(makes("notes.jsonl", ".", NULL));
    CHECK(!makes("notes.jsonl", ".", "chatml")); /* the same one */
    snprintf(config, sizeof config, "{\"eos_token\": \"<end>\", \"chat_template\": \"%s%s\"}",
             "{{ '<|im_start|>system\\\\nbe good<|im_end|>' }}", chat_template);
    folder_put("tokenizer_config.json", config);
    CHECK(makes("notes.jsonl", ".", NULL));
    CHECK(!makes("notes.jsonl", ".", NULL));
    CHECK(makes("notes.jsonl", ".", "chatml"));
    snprintf(config, sizeof config, "{\"eos_token\":\n \"<end>\", \"model_max_length\": 7, \"chat_template\": \"%s\"}",
             chat_template);
    folder_put("tokenizer_config.json", config);
    CHECK(!makes("notes.jsonl", ".", NULL)); /* nothing that a text is encoded by has changed */
    folder_leave(folder);
}

static void copy_vocabulary(const char *name)
{
    char path[600], *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    snprintf(path, sizeof path, MW_TESTS_DIR "/text/files/%s.vocabulary.gguf", name);
    mw__file_read(NULL, path, SIZE_MAX, &data, &size, &err);
    mw__file_write(NULL, "other/tokenizer.gguf", data, size, false, &err);
    mw__free(mw__allocator_default(), data);
    CHECK_OK(err);
}

/* By what is in the tokenizer's file, whichever that is, and not by how it is called. */
static void test_tokens_know_the_content_of_their_tokenizer(void)
{
    char folder[512];
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    folder_put("notes.txt", "abcdefgh");
    CHECK(makes("notes.txt", ".", NULL));
    CHECK(!makes("notes.txt", "./", NULL));
    CHECK(!makes("notes.txt", "tokenizer.json", NULL));
    CHECK(!makes("./notes.txt", "././tokenizer.json", NULL));
    REQUIRE(mkdir("other", 0777) == 0);
    copy_vocabulary("gpt2");
    CHECK(makes("notes.txt", "other", NULL));
    CHECK(!makes("notes.txt", "other", NULL));
    copy_vocabulary("llama3");
    CHECK(makes("notes.txt", "other", NULL));
    folder_leave(folder);
}

static void test_what_is_not_ours_is_not_written_over(void)
{
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    folder_put("notes.txt", "abcdefgh");
    folder_put("notes.txt.tokens", "a diary of somebody");
    CHECK(open_with("notes.txt", 3, false, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "no file of tokens that was made here; name another");
    CHECK(folder_holds("notes.txt.tokens", "a diary of somebody"));
    mw_error_clear(&err);
    mw_text_data_options o = mw_text_data_defaults();
    o.tokens = 3;
    o.cache = "no/such/folder/file";
    CHECK(mw_text_data_open("notes.txt", ".", &o, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FILE, "no/such/folder");
    folder_leave(folder);
}

/* ---- files of others ---- */

static void put_u32(unsigned char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> 8 * i);
}

static void check_file(const void *bytes, size_t size, int64_t words, const char *wanted)
{
    char found[256] = "";
    mw_error err = {0};
    mw_text_data_options o = mw_text_data_defaults();
    o.tokens = 2;
    o.validation = 0.0;
    o.words = words;
    mw__file_write(NULL, "train.bin", bytes, size, false, &err);
    mw_text_data *data = mw_text_data_open("train.bin", NULL, &o, &err);
    if (CHECK_OK(err))
        print_examples(mw_text_data_training(data), 2, found);
    CHECK_STR(found, wanted);
    mw_text_data_destroy(data);
}

static void test_token_files_of_others_are_read(void)
{
    static const uint16_t narrow[] = {0, 1, 2, 3, 4};
    static const uint32_t wide[] = {0, 1, 2, 3, 4};
    unsigned char headed[1024 + 10] = {0};
    char folder[512];
    mw_error err = {0};
    REQUIRE(folder_enter(folder));
    check_file(narrow, sizeof narrow, 65536, "ab>bc cd>de ");
    check_file(wide, sizeof wide, 65537, "ab>bc cd>de ");
    put_u32(headed, 20240520);
    put_u32(headed + 4, 1);
    put_u32(headed + 8, 5);
    memcpy(headed + 1024, narrow, 10);
    check_file(headed, sizeof headed, 0, "ab>bc cd>de ");
    put_u32(headed + 8, 6);
    mw__file_write(NULL, "train.bin", headed, sizeof headed, false, &err);
    CHECK(mw_text_data_open("train.bin", NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "its header says 6 tokens, and it has 10 bytes");
    mw_error_clear(&err);
    mw__file_write(NULL, "train.bin", narrow, sizeof narrow, false, &err);
    CHECK(mw_text_data_open("train.bin", NULL, NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "say how many words there are");
    folder_leave(folder);
}

static void test_a_token_beyond_the_words_is_named(void)
{
    static const uint16_t ids[] = {0, 1, 50, 3, 4};
    char folder[512];
    mw_error err = {0};
    mw_text_data_options o = mw_text_data_defaults();
    REQUIRE(folder_enter(folder));
    mw__file_write(NULL, "train.bin", ids, sizeof ids, false, &err);
    o.tokens = 4;
    o.words = 40;
    mw_text_data *data = mw_text_data_open("train.bin", NULL, &o, &err);
    REQUIRE(CHECK_OK(err));
    mw_loader_options options = mw_loader_defaults(mw_text_data_training(data), 1);
    mw_loader *loader = mw_loader_create(&options, &err);
    CHECK(mw_loader_next(loader, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "token 2 has the number 50, and the network has 40 words");
    mw_loader_destroy(loader);
    mw_text_data_destroy(data);
    folder_leave(folder);
}

/* What mw_text_data_write leaves is what was asked for, and is read back. */
static void test_texts_become_a_file_of_raw_tokens(void)
{
    static const char *const paths[] = {"one.txt", "two.jsonl"};
    static const uint16_t wanted[] = {0, 1, END, 2, END, 3, END};
    char folder[512], *bytes = NULL;
    size_t size = 0;
    mw_error err = {0};
    mw_text_data_info info;
    REQUIRE(folder_enter(folder));
    write_tokenizer("");
    folder_put("one.txt", "ab");
    folder_put("two.jsonl", "{\"text\": \"c\"}\n{\"text\": \"d\"}\n");
    mw_text_data_write(paths, 2, ".", "train.bin", NULL, &info, &err);
    mw__file_read(NULL, "train.bin", SIZE_MAX, &bytes, &size, &err);
    CHECK_OK(err);
    CHECK(size == sizeof wanted && memcmp(bytes, wanted, size) == 0);
    CHECK(info.documents == 3 && info.tokens == 7 && info.text_bytes == 4);
    mw__free(mw__allocator_default(), bytes);
    folder_put("two.jsonl", "{\"text\": \"c\"}\n{\"text\":\n");
    mw_text_data_write(paths, 2, ".", "train.bin", NULL, NULL, &err);
    CHECK_ERROR(err, MW_ERROR_FORMAT, "two.jsonl:2");
    mw_error_clear(&err);
    mw__file_read(NULL, "train.bin", SIZE_MAX, &bytes, &size, &err); /* whole, as before */
    CHECK(size == sizeof wanted && memcmp(bytes, wanted, size) == 0);
    mw__free(mw__allocator_default(), bytes);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_examples_are_windows_or_documents);
    RUN(test_documents_apart_say_where_they_begin);
    RUN(test_buckets_are_those_that_examples_need);
    RUN(test_answers_alone_are_learned);
    RUN(test_bad_texts_are_refused_with_their_place);
    RUN(test_a_huge_line_is_refused);
    RUN(test_tokens_are_kept_and_made_again_when_something_changes);
    RUN(test_tokens_of_one_kind_of_text_are_not_those_of_another);
    RUN(test_tokens_know_the_words_of_a_template);
    RUN(test_tokens_know_the_content_of_their_tokenizer);
    RUN(test_what_is_not_ours_is_not_written_over);
    RUN(test_token_files_of_others_are_read);
    RUN(test_a_token_beyond_the_words_is_named);
    RUN(test_texts_become_a_file_of_raw_tokens);
    return check_finish();
}
