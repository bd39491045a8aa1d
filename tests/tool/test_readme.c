/* The commands of README.md from data to predictions, as they stand there: each does what is promised, and what it
 * writes is read by others than the tool. */
#include "support/check.h"
#include "support/folder.h"
#include "support/page.h"
#include "tool/shell.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <millwright/onnx_check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 16 };

/* A network for pictures of others, which says nothing of itself. */
static void put_network(void)
{
    mw_error err = {0};
    static float weight[3 * 2];
    for (int i = 0; i < 6; i++)
        weight[i] = (float)(i % 3) - 1.0f;
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "pixels", MW_F32, MW_SHAPE(1, 3, SIZE, SIZE));
    mw_tensor *means = mw_reduce_mean(x, MW_AXES(2, 3), false);
    mw_output(mw_matmul(means, mw_constant(graph, MW_F32, MW_SHAPE(3, 2), weight), 0), "logits");
    mw_write_options options = mw_write_defaults();
    options.any_batch = true;
    mw_graph_write(graph, "net.onnx", &options, &err);
    CHECK(err.status == MW_OK || strstr(err.message, "without protobuf-c") != NULL);
    mw_graph_destroy(graph);
}

static void put_files(void)
{
    FILE *people = fopen("people.csv", "w"), *fresh = fopen("new.csv", "w"), *test = fopen("test.csv", "w");
    REQUIRE(people != NULL && fresh != NULL && test != NULL);
    fputs("age,town,kind\n", people);
    fputs("age,town,kind\n", test);
    fputs("town,age\n", fresh);
    for (int i = 0; i < 60; i++) {
        const bool is_old = i % 3 == 0;
        fprintf(people, "%d,%s,%s\n", is_old ? 60 + i % 9 : 20 + i % 9, i % 2 != 0 ? "Ulm" : "Bonn",
                is_old ? "old" : "young");
        fprintf(test, "%d,%s,%s\n", is_old ? 61 : 22, "Ulm", is_old ? "old" : "young");
        fprintf(fresh, "%s,%d\n", "Bonn", is_old ? 61 : 22);
    }
    fclose(people);
    fclose(fresh);
    fclose(test);
    folder_put("names.txt", "dark\nlight\n");
    folder_put("pictures.json", "{\"network\": [{\"conv\": 4}, \"relu\", {\"dense\": \"classes\"}], \"epochs\": 1,\n"
                                " \"batch\": 4, \"data\": {\"size\": 16}}");
    CHECK(symlink(MW_TESTS_DIR "/data/images", "photos") == 0);
    CHECK(symlink(MW_TESTS_DIR "/data/images/png", "new") == 0);
    put_network();
}

/* Runs a line, without what stands behind #; false if a library was left out at build time. */
static bool run_line(const char *line, size_t length)
{
    char command[2048];
    const char *comment = memchr(line, '#', length);
    length = comment != NULL ? (size_t)(comment - line) : length;
    snprintf(command, sizeof command, "'" MW_TOOL "' %.*s >out.txt 2>err.txt", (int)length - 3, line + 3);
    const int status = system(command);
    char *said = page_read("err.txt");
    const bool left_out = said != NULL && strstr(said, "built without") != NULL;
    check_note(status == 0 || left_out, __FILE__, __LINE__, "%.*s: %s", (int)length, line, said != NULL ? said : "");
    free(said);
    return status == 0;
}

/* All that begin with mw in the section. */
static int run_section(const char *section, bool *out_all)
{
    int count = 0;
    *out_all = true;
    for (const char *at = section; (at = strstr(at, "\n    mw ")) != NULL; at += 5, count++) {
        const char *line = at + 5;
        *out_all = run_line(line, strcspn(line, "\n")) && *out_all;
    }
    return count;
}

static bool begins(const char *path, const char *begin)
{
    char *text = page_read(path);
    const bool good = text != NULL && strncmp(text, begin, strlen(begin)) == 0;
    free(text);
    return good;
}

static void check_onnx(const char *path)
{
    mw_error err = {0};
    mw_onnx_check(path, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", path, err.message);
}

static void check_package(const char *path)
{
    char command[1024];
    snprintf(command, sizeof command, "/usr/bin/python3 -B '" MW_TESTS_DIR "/data/coreml/expect.py' %s >said.txt 2>&1",
             path);
    const int status = system(command);
    char *said = page_read("said.txt");
    check_note(status == 0 || said == NULL || said[0] == '\0', __FILE__, __LINE__, "%s: %s", path,
               said != NULL ? said : "");
    free(said);
}

static void test_the_commands_of_the_readme_do_what_they_say(void)
{
    bool all;
    char *readme = page_read(MW_TESTS_DIR "/../README.md");
    char *section = readme != NULL ? strstr(readme, "\n## From data to predictions\n") : NULL;
    REQUIRE(section != NULL);
    char *end = strstr(section + 1, "\n## ");
    if (end != NULL)
        *end = '\0';
    CHECK_INT(run_section(section, &all), 9);
    free(readme);
    if (!all)
        SKIP("built without libpng, libjpeg or protobuf-c");
    CHECK(begins("predictions.csv", "id,class,probability\n"));
    CHECK(begins("predictions.jsonl", "{\"id\": \""));
    check_onnx("people.onnx");
    check_onnx("pictures.onnx");
    check_onnx("named.onnx");
    check_package("People.mlpackage");
    check_package("Pictures.mlpackage");
    check_package("Net.mlpackage");
    CHECK_MW(0, "accuracy", NULL, "evaluate", "people", "test.csv", "--report", "test.html", "-q");
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    put_files();
    RUN(test_the_commands_of_the_readme_do_what_they_say);
    folder_leave(folder);
    return check_finish();
}
