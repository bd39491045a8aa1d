/* Runs a fuzz target without a fuzzer, in the normal suite: over every file of the folders named, over each of them cut
 * short, and over the empty input. It shows that old findings stay mended; new ones come from ./run nightly. */
#include "fuzz/replay.h"
#include "support/check.h"

#include <dirent.h>
#include <stdlib.h>

/* The input in a block of its own size, so that a read past its end is seen by ASan. */
static void run_bytes(const unsigned char *bytes, size_t size)
{
    unsigned char *exact = malloc(size > 0 ? size : 1);
    if (!CHECK(exact != NULL))
        return;
    memcpy(exact, bytes, size);
    CHECK_INT(LLVMFuzzerTestOneInput(exact, size), 0);
    free(exact);
}

static void run_file(const char *path)
{
    static unsigned char bytes[1 << 20];
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL))
        return;
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    run_bytes(bytes, size);
    const size_t cut_step = size / 64 + 1;
    for (size_t cut = 0; cut < size; cut += cut_step)
        run_bytes(bytes, cut);
}

static void run_folder(const char *folder)
{
    DIR *entries = opendir(folder);
    if (!CHECK(entries != NULL))
        return;
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        char path[1024];
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && CHECK(length > 0 && (size_t)length < sizeof path))
            run_file(path);
    }
    closedir(entries);
}

int main(int count, char **folders)
{
    check_begin("test_empty_input_is_refused_quietly");
    run_bytes((const unsigned char *)"", 0);
    check_end();
    for (int i = 1; i < count; i++) {
        check_begin(folders[i]);
        run_folder(folders[i]);
        check_end();
    }
    return check_finish();
}
