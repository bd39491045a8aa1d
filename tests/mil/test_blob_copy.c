/* Large weight files that are read through a private copy: what a graph holds is not the file's any more, takes no
 * memory until it is used, and is shared by the folders that are written for a compile. */
#include "base/file/file.h"
#include "graph/constants/shared_payload.h"
#include "mil/io.h"
#include "support/check.h"
#include "support/child.h"
#include "support/failing.h"
#include "support/folder.h"

#include <millwright/millwright.h>

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROWS = 640, COLUMNS = 512, COUNT = ROWS * COLUMNS }; /* fp32: 1.3 MB */

static float number(int i, int salt) { return (float)(i % 1021) * 0.25f + (float)salt; }

static mw_tensor *weight(mw_graph *graph, int salt)
{
    float *data = malloc(COUNT * sizeof *data);
    for (int i = 0; i < COUNT; i++)
        data[i] = number(i, salt);
    mw_tensor *tensor = mw_constant(graph, MW_F32, MW_SHAPE(ROWS, COLUMNS), data);
    free(data);
    return tensor;
}

/* y = x w + b, in the folder "model". */
static void write_model(int salt)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, COLUMNS));
    mw_tensor *w = weight(graph, salt);
    mw_name(w, "w");
    mw_output(mw_linear(x, w, NULL), "y");
    CHECK(mw_graph_write(graph, "model", NULL, &err) == MW_OK);
    CHECK_OK(err);
    mw_graph_destroy(graph);
}

static void remove_model(void)
{
    mw__file_remove_folder("model/weights");
    mw__file_remove_folder("model");
}

static const mw__payload *payload_of(const mw_graph *graph)
{
    const mw_tensor *w = graph != NULL ? mw_graph_find(graph, "w") : NULL;
    CHECK(w != NULL && w->payload != NULL && w->payload->data != NULL);
    return w != NULL ? w->payload : NULL;
}

static bool holds_numbers(const mw__payload *payload, int salt)
{
    for (int i = 0; payload != NULL && i < COUNT; i++)
        if (((const float *)payload->data)[i] != number(i, salt))
            return false;
    return payload != NULL && payload->size == COUNT * sizeof(float);
}

static bool is_copy(const mw__payload *payload)
{
    return payload != NULL && payload->shared != NULL && payload->shared->parts.path != NULL;
}

static void test_a_copy_does_not_follow_its_file(void)
{
    mw_error err = {0};
    write_model(1);
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    CHECK_OK(err);
    CHECK(is_copy(payload_of(graph)));
    CHECK(truncate("model/weights/weight.bin", 100) == 0);
    CHECK(holds_numbers(payload_of(graph), 1));
    mw_graph_destroy(graph);
    remove_model();
}

static long bytes_asked;

static void *count_bytes(void *user, void *pointer, size_t size)
{
    (void)user;
    bytes_asked += (long)size;
    if (size != 0)
        return realloc(pointer, size);
    free(pointer);
    return NULL;
}

static void test_reading_takes_no_memory_for_it(void)
{
    const mw_allocator allocator = {.resize = count_bytes};
    mw_graph_options options = mw_graph_defaults();
    mw_error err = {0};
    options.allocator = &allocator;
    write_model(2);
    bytes_asked = 0;
    mw_graph *graph = mw_graph_open_mil("model/model.mil", &options, &err);
    CHECK_OK(err);
    CHECK(bytes_asked > 0 && bytes_asked < (long)(COUNT * sizeof(float)) / 4);
    CHECK(holds_numbers(payload_of(graph), 2));
    mw_graph_destroy(graph);
    remove_model();
}

/* ---- folders of a compile ---- */

static char *text_of(const char *path)
{
    char *text = NULL;
    size_t size;
    CHECK(mw__file_read(NULL, path, 1 << 20, &text, &size, NULL) == MW_OK);
    return text;
}

static void remove_private(const char *folder)
{
    char path[64];
    snprintf(path, sizeof path, "%s/weights", folder);
    mw__file_remove_folder(path);
    mw__file_remove_folder(folder);
}

static mw_graph *write_private(const mw_graph *graph, const char *folder)
{
    mw_error err = {0};
    char path[64];
    mw_write_options options = mw_write_defaults();
    CHECK(mkdir(folder, 0700) == 0);
    CHECK(mw__mil_write(graph, folder, &options, MW__WRITE_PRIVATE, NULL, &err) == MW_OK);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    mw_graph *again = mw_graph_open_mil(path, NULL, &err);
    CHECK_OK(err);
    return again;
}

static void test_private_folders_share_the_copy(void)
{
    static const char *const folders[] = {"one", "two"};
    mw_error err = {0};
    struct stat copy, shared;
    write_model(3);
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    CHECK(is_copy(payload_of(graph)) && stat(payload_of(graph)->shared->parts.path, &copy) == 0);
    for (int i = 0; i < 2; i++) {
        char path[64];
        mw_graph *again = write_private(graph, folders[i]);
        CHECK(holds_numbers(payload_of(again), 3));
        snprintf(path, sizeof path, "%s/weights/copy-0.bin", folders[i]);
        CHECK(stat(path, &shared) == 0 && shared.st_ino == copy.st_ino && shared.st_dev == copy.st_dev);
        snprintf(path, sizeof path, "%s/weights/weight.bin", folders[i]);
        CHECK(access(path, F_OK) != 0);
        mw_graph_destroy(again);
        remove_private(folders[i]);
    }
    mw_graph_destroy(graph);
    remove_model();
}

/* Where there is no second name, the weights are written. */
static void test_a_folder_without_links_gets_the_weights(void)
{
    mw_error err = {0};
    write_model(4);
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    CHECK(is_copy(payload_of(graph)) && unlink(payload_of(graph)->shared->parts.path) == 0);
    mw_graph *again = write_private(graph, "one");
    CHECK(holds_numbers(payload_of(again), 4) && access("one/weights/weight.bin", F_OK) == 0);
    mw_graph_destroy(again);
    remove_private("one");
    mw_graph_destroy(graph);
    remove_model();
}

static void test_without_weights_there_is_no_folder_of_them(void)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(3))), "y");
    mw_graph_destroy(write_private(graph, "one"));
    CHECK_INT(folder_count("one"), 1);
    remove_private("one");
    mw_graph_destroy(graph);
}

/* A model of one's own is whole: it names no file of ours. */
static void test_a_written_model_is_whole(void)
{
    mw_error err = {0};
    write_model(5);
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    CHECK(mw_graph_write(graph, "written", NULL, &err) == MW_OK);
    char *text = text_of("written/model.mil");
    CHECK(text != NULL && strstr(text, "weights/weight.bin") != NULL && strstr(text, "copy-") == NULL);
    mw__free(NULL, text);
    mw_graph_destroy(graph);
    graph = mw_graph_open_mil("written/model.mil", NULL, &err);
    CHECK_OK(err);
    CHECK(holds_numbers(payload_of(graph), 5));
    mw_graph_destroy(graph);
    remove_private("written");
    remove_model();
}

/* ---- one mapping of one file ---- */

/* Any thread; NULL on failure. */
static mw__shared_payload *map_of(const mw_allocator *allocator, const char *path)
{
    mw__file file;
    if (mw__file_open(&file, path, NULL) != MW_OK)
        return NULL;
    mw__shared_payload *shared = mw__shared_payload_map(allocator, &file, path, NULL);
    mw__file_close(&file);
    return shared;
}

static void test_a_file_that_is_mapped_twice_is_mapped_once(void)
{
    const mw_allocator counting = {.resize = count_bytes}, same = counting;
    mw_error err = {0};
    CHECK(mw__file_write(NULL, "a", "first", 5, false, &err) == MW_OK && link("a", "b") == 0);
    CHECK(mw__file_write(NULL, "c", "first", 5, false, &err) == MW_OK);
    mw__shared_payload *a = map_of(&counting, "a"), *b = map_of(&same, "b"), *c = map_of(&counting, "c"),
                       *d = map_of(NULL, "a");
    REQUIRE(a != NULL && b != NULL && c != NULL && d != NULL);
    CHECK(a == b);           /* another name, an allocator that is the same */
    CHECK(a != c && a != d); /* another file, another allocator */
    mw__shared_payload_release(a);
    CHECK(memcmp(b->data, "first", 5) == 0);
    CHECK(mw__file_write(NULL, "a", "other", 5, false, &err) == MW_OK); /* renamed over it: another file */
    a = map_of(&counting, "a");
    CHECK(a != b && memcmp(a->data, "other", 5) == 0 && memcmp(b->data, "first", 5) == 0);
    mw__shared_payload_release(a);
    mw__shared_payload_release(b);
    mw__shared_payload_release(c);
    mw__shared_payload_release(d);
    a = map_of(&counting, "b");
    CHECK(memcmp(a->data, "first", 5) == 0);
    mw__shared_payload_release(a);
    CHECK_OK(err);
}

static void *map_often(void *unused)
{
    for (int i = 0; i < 2000; i++) {
        mw__shared_payload *a = map_of(NULL, "a"), *b = map_of(NULL, i % 2 == 0 ? "a" : "b");
        if (a == NULL || b == NULL || memcmp(a->data, "other", 5) != 0 ||
            memcmp(b->data, i % 2 == 0 ? "other" : "first", 5) != 0)
            return (void *)"other bytes";
        mw__shared_payload_release(a);
        mw__shared_payload_release(b);
    }
    return unused;
}

static void test_threads_share_mappings(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, map_often, NULL) == 0);
    for (int i = 0; i < 3; i++) {
        void *result = NULL;
        CHECK(pthread_join(threads[i], &result) == 0 && result == NULL);
    }
}

/* ---- what a hostile file may try ---- */

static void put(unsigned char *bytes, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

/* Entries that lie in each other's data and in the head of the file: each has the bytes of the file at its place. */
static void test_overlapping_entries_hold_the_bytes_of_the_file(void)
{
    enum { BYTES = 2 << 20, DATA = 65536 };
    static unsigned char file[BYTES];
    mw_error err = {0};
    for (int i = 0; i < BYTES; i++)
        file[i] = (unsigned char)(i * 31 + i / 4099);
    put(file + 4, 4, 2);
    const uint64_t offsets[2] = {128, 32768}, places[2] = {0, 64};
    for (int k = 0; k < 2; k++) {
        put(file + offsets[k], 4, 0xdeadbeef);
        put(file + offsets[k] + 4, 4, 4);
        put(file + offsets[k] + 8, 8, DATA);
        put(file + offsets[k] + 16, 8, places[k]);
    }
    CHECK(mkdir("w", 0700) == 0);
    CHECK(mw__file_write(NULL, "w/weight.bin", file, BYTES, false, &err) == MW_OK);
    static const char text[] = "program(1.3){func main<ios18>(fp16 x){"
                               "tensor<int8, [65536]> a = const()[val = tensor<int8, [65536]>(BLOBFILE(path = "
                               "string(\"@model_path/w/weight.bin\"), offset = uint64(128)))];"
                               "tensor<int8, [65536]> w = const()[val = tensor<int8, [65536]>(BLOBFILE(path = "
                               "string(\"@model_path/w/weight.bin\"), offset = uint64(32768)))];} -> (x);}";
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), ".", NULL, &err);
    CHECK_OK(err);
    REQUIRE(graph != NULL);
    const mw__payload *a = mw_graph_find(graph, "a")->payload, *w = payload_of(graph);
    CHECK(is_copy(a) && memcmp(a->data, file, DATA) == 0);
    CHECK(is_copy(w) && memcmp(w->data, file + 64, DATA) == 0);
    mw_graph_destroy(graph);
    mw__file_remove_folder("w");
}

/* ---- where there is no room ---- */

static void read_under_a_limit(void *user)
{
    (void)user;
    mw_error err = {0};
    const struct rlimit limit = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    CHECK_OK(err);
    CHECK(!is_copy(payload_of(graph)) && holds_numbers(payload_of(graph), 6));
    mw_graph_destroy(graph);
}

static void read_without_a_folder(void *user)
{
    (void)user;
    mw_error err = {0};
    setenv("TMPDIR", "/no/such/folder", 1);
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    CHECK_OK(err);
    CHECK(!is_copy(payload_of(graph)) && holds_numbers(payload_of(graph), 6));
    mw_graph_destroy(graph);
}

static void test_without_room_it_is_read_into_memory(void)
{
    write_model(6);
    child_check(read_under_a_limit, NULL);
    child_check(read_without_a_folder, NULL);
    remove_model();
}

static void destroy_graph(void *user) { mw_graph_destroy(user); }

static void test_a_child_that_destroys_leaves_the_copy_to_its_parent(void)
{
    mw_error err = {0};
    write_model(8);
    mw_graph *graph = mw_graph_open_mil("model/model.mil", NULL, &err);
    CHECK_OK(err);
    const mw__payload *payload = payload_of(graph);
    CHECK(is_copy(payload));
    child_check(destroy_graph, graph);
    CHECK(is_copy(payload) && access(payload->shared->parts.path, F_OK) == 0);
    CHECK(holds_numbers(payload, 8));
    mw_graph_destroy(graph);
    remove_model();
}

static void test_reading_survives_failing_allocations(void)
{
    write_model(7);
    for (long n = 0;; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_graph_options options = mw_graph_defaults();
        mw_error err = {0};
        options.allocator = &allocator;
        mw_graph *graph = mw_graph_open_mil("model/model.mil", &options, &err);
        CHECK(graph != NULL ? holds_numbers(payload_of(graph), 7) : err.status == MW_ERROR_MEMORY);
        mw_graph_destroy(graph);
        CHECK_INT(failing.live, 0);
        if (!failing.failed)
            break;
    }
    remove_model();
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    RUN(test_without_room_it_is_read_into_memory);
    RUN(test_a_child_that_destroys_leaves_the_copy_to_its_parent);
    RUN(test_a_copy_does_not_follow_its_file);
    RUN(test_reading_takes_no_memory_for_it);
    RUN(test_private_folders_share_the_copy);
    RUN(test_a_folder_without_links_gets_the_weights);
    RUN(test_without_weights_there_is_no_folder_of_them);
    RUN(test_a_written_model_is_whole);
    RUN(test_a_file_that_is_mapped_twice_is_mapped_once);
    RUN(test_threads_share_mappings);
    RUN(test_overlapping_entries_hold_the_bytes_of_the_file);
    RUN(test_reading_survives_failing_allocations);
    folder_leave(folder);
    return check_finish();
}
