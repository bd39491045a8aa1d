/* A language model through the shell: a text as tokens, fine-tuning, generation, and what is refused. */
#include "shell.h"
#include "support/check.h"
#include "support/folder.h"

#include "base/file/file.h"
#include "base/text/text.h"

#include <millwright/text.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static void copy_file(const char *name)
{
    char from[600], to[64], *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    snprintf(from, sizeof from, MW_TESTS_DIR "/text/models/llama/%s", name);
    snprintf(to, sizeof to, "base/%s", name);
    mw__file_read(NULL, from, SIZE_MAX, &data, &size, &err);
    mw__file_write(NULL, to, data, size, false, &err);
    mw__free(mw__allocator_default(), data);
    CHECK_OK(err);
}

static bool begin(char *folder)
{
    mw__text text;
    if (!folder_enter(folder) || mkdir("base", 0777) != 0)
        return false;
    copy_file("config.json");
    copy_file("model.safetensors");
    copy_file("tokenizer.json");
    mw__text_init(&text, NULL);
    for (int i = 0; i < 900; i++)
        mw__text_printf(&text, "%c", 'a' + i * i % 11 + i % 7);
    folder_put("notes.txt", text.data);
    mw__text_deinit(&text);
    return true;
}

static bool file_has(const char *path, const char *part)
{
    char *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    mw__file_read(NULL, path, SIZE_MAX, &data, &size, &err);
    const bool has = data != NULL && strstr(data, part) != NULL;
    mw__free(mw__allocator_default(), data);
    return has;
}

#define TUNE(...) "finetune", "base", "--text", __VA_ARGS__, "-t", "1"

static void test_a_session_from_a_text_to_another_text(void)
{
    char folder[512];
    REQUIRE(begin(folder));
    CHECK_MW(0, "1 documents, 900 tokens of 900 bytes", NULL, "tokens", "base", "--out", "train.bin", "notes.txt");
    CHECK_MW(0, "bits_per_byte", NULL,
             TUNE("notes.txt", "--lora", "4", "--tokens", "16", "--lr", "0.01", "--run", "run", "-o", "tuned"));
    CHECK_MW(0, NULL, NULL, "generate", "tuned", "--prompt", "abc", "--tokens", "5");
    CHECK_MW(0, NULL, NULL, "generate", "run/model", "--prompt", "abc", "--tokens", "5");
    CHECK_MW(0, "run/report.html", NULL, "report", "run");
    CHECK_MW(0, NULL, NULL, "plot", "run/metrics.jsonl", "-o", "run.svg");
    CHECK(file_has("run.svg", "Perplexity") && file_has("run.svg", "Bits per byte"));
    CHECK(file_has("run/report.html", "tokens a second") && file_has("run/metrics.jsonl", "\"sample\""));
    CHECK_MW(0, NULL, NULL,
             TUNE("train.bin", "--tokens", "16", "--no-samples", "--accumulate", "2", "-o", "again", "-q"));
    CHECK_MW(0, NULL, NULL, TUNE("notes.txt", "--lora", "4", "--tokens", "16", "-q", "--adapter", "-o", "adapter"));
    struct stat found;
    CHECK(stat("adapter/adapter_config.json", &found) == 0 && stat("adapter/model.safetensors", &found) != 0);
    folder_leave(folder);
}

#define MINILM MW_TESTS_DIR "/text/models/minilm"

static void test_texts_as_vectors_and_the_nearest_ones(void)
{
    char folder[512];
    REQUIRE(begin(folder));
    folder_put("lines.txt", "hide\r\n\nabcdef\nA bad cab\n");
    CHECK_MW(0, " 1.000  A bad cab\n", NULL, "embed", MINILM, "-f", "lines.txt", "--query", "a bad CAB", "--top", "1");
    CHECK_MW(0, "\"place\": 3, \"text\": \"A bad cab\"", NULL, "embed", MINILM, "fade", "-f", "lines.txt", "--query",
             "a bad cab", "--json");
    CHECK_MW(0, NULL, NULL, "embed", MINILM, "a", "b", "-o", "vectors.npy");
    CHECK_MW(0, "[2, 16]", NULL, "tensors", "vectors.npy");
    CHECK_MW(0, "\"embeddings\"", NULL, "embed", MINILM, "a", "--json", "--pooling", "cls");
    CHECK_MW(1, NULL, "ends with none of .safetensors", "embed", "none", "a", "-o", "vectors.txt"); /* first of all */
    CHECK_MW(1, NULL, "the folder \"nowhere\"", "embed", "none", "a", "-o", "nowhere/vectors.npy");
    CHECK_MW(1, NULL, "there are no texts", "embed", MINILM);
    CHECK_MW(1, NULL, "llama is no encoder", "embed", "base", "a");
    CHECK_MW(2, NULL, "--top", "embed", MINILM, "a", "--top", "3");
    CHECK_MW(1, NULL, "bert is an encoder", "generate", MINILM, "--prompt", "a");
    CHECK_MW(1, NULL, "bert is an encoder", "finetune", MINILM, "--text", "notes.txt", "-o", "x");
    folder_leave(folder);
}

/* What cannot be written, or makes no sense, is said before anything is trained. */
static void test_what_is_refused(void)
{
    char folder[512];
    REQUIRE(begin(folder));
    folder_put("bad.jsonl", "{\"text\": \"ab\"}\n{\"text\": 1}\n");
    CHECK_MW(1, NULL, "bad.jsonl:2", TUNE("bad.jsonl", "-o", "x"));
    folder_put("talks.jsonl", "{\"messages\": [{\"role\": \"user\", \"content\": \"a\"}]}\n");
    CHECK_MW(1, NULL, "no chat_template in tokenizer_config.json", TUNE("talks.jsonl", "-o", "x"));
    CHECK_MW(1, NULL, "is to be a folder", TUNE("notes.txt", "--tokens", "16", "-o", "notes.txt"));
    CHECK_MW(1, NULL, "take fewer, or pad", TUNE("notes.txt", "--tokens", "900", "-o", "x"));
    CHECK_MW(2, NULL, "--data PATH, or --text PATH", "finetune", "base", "-o", "x");
    CHECK_MW(2, NULL, "head", TUNE("notes.txt", "--head", "-o", "x"));
    CHECK_MW(2, NULL, "adapter", TUNE("notes.txt", "--adapter", "-o", "x"));
    CHECK_MW(1, NULL, "cannot open \"none.txt\"", TUNE("none.txt", "-o", "x"));
    CHECK_MW(1, NULL, "cannot open \"none.txt\"", "tokens", "base", "--out", "y.bin", "none.txt");
    CHECK_MW(2, NULL, "which files", "tokens", "base", "--out", "y.bin");
    CHECK_MW(1, NULL, "is one of the texts", "tokens", "base", "--out", "./notes.txt", "notes.txt");
    CHECK_MW(2, NULL, "is one of the texts", "tokens", "--train", "300", "--out", "./notes.txt", "notes.txt");
    CHECK(file_has("notes.txt", "a"));
    CHECK_MW(1, NULL, "stop 0 is empty", "generate", "base", "--prompt", "abc", "--stop", "");
    folder_put("far.bin", "a_b_c_d_e_f_g_h_");
    CHECK_MW(1, NULL, "has the number 24421, and the network has 40 words",
             TUNE("far.bin", "--tokens", "2", "--no-samples", "-o", "x"));
    folder_leave(folder);
}

/* A text that would be trained on, and a place or form that is refused. Nothing is there afterwards. */
static void check_place(const char *out, const char *part, const char *flag)
{
    struct stat found;
    const char *words[16] = {"finetune", "base", "--text", "notes.txt", "--tokens", "16", "--lora", "2",
                             "--run",    "run",  "--out",  out,         "-q",       flag, NULL};
    shell_check(words, strstr(part, "no effect") != NULL || strstr(part, "is written as") != NULL ? 2 : 1, NULL, part,
                __FILE__, __LINE__);
    CHECK(stat("run", &found) != 0);
}

static void test_a_model_that_could_not_be_written_is_not_trained(void)
{
    char folder[512];
    struct stat found;
    REQUIRE(begin(folder) && mkdir("other", 0777) == 0);
    folder_put("other/diary", "mine");
    check_place("x.gguf", "nothing was trained, as the model could not be written to x.gguf: GGUF has no place", NULL);
    check_place("x.bin", "could not be written to x.bin: llama2.c has no scaled positions", NULL);
    check_place("none/x", "none/x", NULL);
    check_place("notes.txt", "is to be a folder, and is a file", NULL);
    check_place("notes.txt/x", "Not a directory", NULL);
    check_place("other", "no folder of a model: it is not replaced", NULL);
    check_place("x.onnx", "--out x.onnx: a language model is written as a folder, .gguf, .bin or .mlpackage", NULL);
    check_place("none/x.mlpackage", "none/x.mlpackage", NULL);
    check_place("x.gguf", "--adapter has no effect with --out x.gguf: adapters are a folder", "--adapter");
    check_place("none/x", "nothing was trained: the folder \"none\"", "--adapter");
    check_place("notes.txt/x", "is to be a folder, and is a file", "--adapter");
    CHECK(folder_holds("other/diary", "mine"));
    CHECK(stat("x.gguf", &found) != 0 && stat("x.bin", &found) != 0);
    CHECK_INT(folder_count("."), 4); /* base, other, the text and its tokens */
    folder_leave(folder);
}

/* Not in the sweep of options: what depends on the text itself. */
static void test_a_template_without_a_conversation_is_refused(void)
{
    char folder[512];
    REQUIRE(begin(folder));
    folder_put("lines.jsonl", "{\"text\": \"abcdefgh\"}\n");
    CHECK_MW(1, NULL, "\"zephyr\" has no effect: \"lines.jsonl\" has no conversation",
             TUNE("lines.jsonl", "--tokens", "4", "--chat", "zephyr", "-o", "x"));
    CHECK_MW(2, NULL, "--chat has no effect on a plain text", TUNE("notes.txt", "--chat", "zephyr", "-o", "x"));
    CHECK_MW(2, NULL, "--segments 1 has no effect", TUNE("notes.txt", "--segments", "1", "-o", "x"));
    CHECK_MW(2, NULL, "--segments has no effect with --memory-limit",
             TUNE("notes.txt", "--segments", "2", "--memory-limit", "9", "-o", "x"));
    folder_leave(folder);
}

/* Files of other projects: what has its vocabulary in it, and what stands beside it. */
static void test_models_of_one_file_learn_texts(void)
{
    char folder[512], *data = NULL;
    size_t size = 0;
    mw_error err = {0};
    struct stat found;
    REQUIRE(begin(folder) && mkdir("stories", 0777) == 0);
    mw__file_read(NULL, MW_TESTS_DIR "/text/files/stories_v1.bin", SIZE_MAX, &data, &size, &err);
    mw__file_write(NULL, "stories/model.bin", data, size, false, &err);
    mw__free(mw__allocator_default(), data);
    CHECK_OK(err);
    CHECK(rename("base/tokenizer.json", "stories/tokenizer.json") == 0);
    CHECK_MW(0, "perplexity", NULL, "finetune", "stories/model.bin", "--text", "notes.txt", "--tokens", "16", "-o",
             "tuned.bin", "--epochs", "1", "-t", "1");
    CHECK(stat("tuned.bin", &found) == 0);
    CHECK_MW(1, NULL, "nothing was trained, as the model could not be written to stories: \"stories\" is there",
             "finetune", "stories/model.bin", "--text", "notes.txt", "--tokens", "16", "-o", "stories", "--run", "run");
    CHECK(stat("run", &found) != 0);
    folder_leave(folder);
}

/* Fewer bytes, the same bits: neither changes what is learned. */
static void test_memory_and_segments_change_no_bit(void)
{
    char folder[512], *one = NULL, *two = NULL;
    size_t size = 0, other = 0;
    mw_error err = {0};
    REQUIRE(begin(folder));
    CHECK_MW(0, NULL, NULL, TUNE("notes.txt", "--tokens", "32", "-o", "plain", "--no-samples"));
    CHECK_MW(0, "parts are computed again", NULL,
             TUNE("notes.txt", "--tokens", "32", "-o", "less", "--no-samples", "--memory-limit", "0.45"));
    CHECK_MW(0, NULL, NULL, TUNE("notes.txt", "--tokens", "32", "-o", "cut", "--no-samples", "--segments", "3"));
    CHECK_MW(1, NULL, "the limit of memory is 1000: take a smaller batch",
             TUNE("notes.txt", "--tokens", "32", "-o", "none", "--memory-limit", "0.001"));
    mw__file_read(NULL, "plain/model.safetensors", SIZE_MAX, &one, &size, &err);
    static const char *const others[] = {"less/model.safetensors", "cut/model.safetensors"};
    for (int i = 0; i < 2; i++) {
        mw__file_read(NULL, others[i], SIZE_MAX, &two, &other, &err);
        CHECK(CHECK_OK(err) && size == other && memcmp(one, two, size) == 0);
        mw__free(mw__allocator_default(), two);
    }
    mw__free(mw__allocator_default(), one);
    folder_leave(folder);
}

int main(void)
{
    RUN(test_a_session_from_a_text_to_another_text);
    RUN(test_texts_as_vectors_and_the_nearest_ones);
    RUN(test_what_is_refused);
    RUN(test_a_model_that_could_not_be_written_is_not_trained);
    RUN(test_a_template_without_a_conversation_is_refused);
    RUN(test_models_of_one_file_learn_texts);
    RUN(test_memory_and_segments_change_no_bit);
    return check_finish();
}
