// millwright.hpp: who owns what, what is thrown, and a training from its first line to a file.
#include <cstdio>
#include <cstdlib>
#include <millwright/millwright.hpp>
#include <type_traits>
#include <unistd.h>

static int passed, failed;

static bool check(bool good, const char *what)
{
    if (!good)
        std::printf("%s\n", what);
    return good;
}

template <class T> constexpr bool is_owner()
{
    return std::is_nothrow_move_constructible<T>::value && std::is_nothrow_move_assignable<T>::value &&
           !std::is_copy_constructible<T>::value && !std::is_copy_assignable<T>::value &&
           std::is_nothrow_default_constructible<T>::value && sizeof(T) == sizeof(void *);
}

static_assert(is_owner<mw::graph>() && is_owner<mw::trainer>() && is_owner<mw::dataset>() && is_owner<mw::model>(),
              "objects are moved, and take no more than their pointer");
static_assert(std::is_trivially_copyable<mw::tensor>::value && sizeof(mw::tensor) == sizeof(mw_tensor *), "a value");
static_assert(!std::is_convertible<mw::graph, mw_program *>::value, "a graph is no program");
static_assert(std::is_base_of<std::runtime_error, mw::error>::value, "an exception");

// An allocator that counts what lives.
static long alive;

static void *resize(void *, void *memory, size_t size)
{
    if (size == 0) {
        alive -= memory != nullptr;
        std::free(memory);
        return nullptr;
    }
    alive += memory == nullptr;
    return std::realloc(memory, size);
}

static mw::graph counted()
{
    static mw_allocator allocator = {};
    allocator.resize = resize;
    mw_graph_options options = mw::graph::defaults();
    options.allocator = &allocator;
    return mw::graph::create(&options);
}

static bool test_objects_are_destroyed_once()
{
    alive = 0;
    {
        mw::graph first = counted();
        bool good = check(alive > 0 && first, "made");
        mw::graph second = std::move(first);
        good = check(!first && second && first.get() == nullptr, "moved") && good;
        mw::graph &same = second;
        second = std::move(same);
        first = std::move(second);
        good = check(first && !second, "moved back") && good;
        first = counted();
        first.reset();
        first.reset();
        good = check(alive == 0, "what is assigned to is destroyed") && good;
        mw_graph *given = counted().release();
        good = check(alive > 0, "released") && good;
        second.reset(given);
        if (!good)
            return false;
    }
    return check(alive == 0, "all of them");
}

static bool test_errors_are_thrown()
{
    mw::graph graph = mw::graph::create();
    const mw::tensor x = mw::input(graph, "x", MW_F32, MW_SHAPE(2, 3));
    bool good = check(!mw::matmul(x, x, mw_transposes{}), "a constructor throws nothing");
    try {
        mw::program::create(graph);
        return check(false, "nothing was thrown");
    } catch (const mw::error &err) {
        good = check(err.status() == MW_ERROR_SHAPE && std::string(err.operation()) == "matmul", err.what()) && good;
        good = check(std::string(err.what()).find("[2, 3]") != std::string::npos, err.what()) && good;
    }
    try {
        mw::model::open(std::string("/nowhere/net.onnx"));
        return check(false, "nothing was thrown");
    } catch (const std::runtime_error &err) {
        return check(std::string(err.what()).find("/nowhere/net.onnx") != std::string::npos, err.what()) && good;
    }
}

// What is made before a call throws is destroyed.
static bool test_nothing_leaks_by_an_exception()
{
    alive = 0;
    try {
        mw::graph graph = counted();
        mw::output(mw::input(graph, "x", MW_F32, MW_SHAPE(2)), "y");
        mw::graph copy = graph.evaluation();
        copy.trainable(nullptr);
    } catch (const mw::error &) {
        return check(alive == 0, "what was alive");
    }
    return check(false, "nothing was thrown");
}

static bool test_operators_and_lists_are_those_of_c()
{
    mw::graph graph = mw::graph::create();
    const mw::tensor x = mw::input(graph, "x", MW_F32, MW_SHAPE(2));
    const mw::tensor y = mw::reduce_sum((x * x - 2.0 * x + 1.0) / (x + x), MW_ALL_AXES, false);
    mw::output(mw::concat({mw::expand_dims(y, MW_AXES(0)), mw::expand_dims(-y, MW_AXES(0))}, 0), "both");
    mw::output(mw::grad(mw::reduce_sum(x * x, MW_ALL_AXES, false), {x}).at(0), "dx");
    if (!check(graph.print().find("concat") != std::string::npos, "a text"))
        return false;
    mw::program program = mw::program::create(graph);
    const float in[2] = {1.0f, 2.0f};
    float out[2] = {}, sums[2] = {};
    program.write("x", MW_F32, in, 2);
    program.run();
    program.read("dx", MW_F32, out, 2);
    program.read("both", MW_F32, sums, 2);
    return check(out[0] == 2.0f && out[1] == 4.0f && sums[0] == 0.25f && sums[1] == -0.25f, "values");
}

static mw::trainer make_trainer(mw::graph &graph)
{
    const mw::tensor x = mw::input(graph, "x", MW_F32, MW_SHAPE(4, 2)), y = mw::input(graph, "y", MW_I32, MW_SHAPE(4));
    const mw::tensor logits = mw::dense(mw::tanh(mw::dense(x, 8, "fc1")), 2, "fc2");
    mw_trainer_options options = mw::trainer::defaults(mw::cross_entropy(logits, y), mw::adam(0.05f));
    options.metric = mw::accuracy(logits, y);
    options.prediction = logits;
    options.compile.seed = 1;
    options.compile.threads = 1;
    return mw::trainer::create(&options);
}

static bool test_a_network_is_trained_written_and_read()
{
    static const float x[8] = {0, 0, 0, 1, 1, 0, 1, 1};
    static const int32_t y[4] = {0, 1, 1, 0};
    mw_column columns[2] = {};
    columns[0].name = "x", columns[0].dtype = MW_F32, columns[0].shape = MW_SHAPE(2), columns[0].data = x;
    columns[1].name = "y", columns[1].dtype = MW_I32, columns[1].data = y;
    mw::trainer trainer;
    {
        mw::graph graph = mw::graph::create();
        trainer = make_trainer(graph);
    }
    mw::dataset data = mw::dataset::create(columns, 2, 4, true);
    mw_fit_options fit = mw_fit_defaults(data, 200);
    fit.progress.quiet = true;
    trainer.fit(&fit);
    mw_evaluation found = {};
    trainer.evaluate(data, nullptr, &found);
    bool good = check(found.metrics[0].value == 1.0, "accuracy");
    char folder[] = "/tmp/test_hpp_XXXXXX";
    if (mkdtemp(folder) == nullptr)
        return check(false, folder);
    const std::string path = std::string(folder) + "/net.onnx";
    trainer.export_(nullptr, path);
    {
        mw::model model = mw::model::open(path);
        mw::predictor predictor = mw::predictor::create(model);
        float scores[8] = {};
        const mw_feed feed = {"x", MW_F32, x, 8, 0.0f, 0.0f};
        mw_batch batch = {};
        batch.feeds = &feed, batch.feed_count = 1, batch.examples = 4;
        mw_port port;
        model.port_at(1, &port);
        const mw_result result = {port.name, MW_F32, scores, 8};
        model.reset(); // the predictor keeps it alive
        predictor.predict(&batch, &result, 1);
        for (int i = 0; i < 4; i++)
            good = check((scores[2 * i + 1] > scores[2 * i]) == (y[i] == 1), "a prediction") && good;
    }
    std::remove(path.c_str());
    rmdir(folder);
    return good;
}

static bool test_objects_that_c_leaves_somewhere()
{
    static const float x[4] = {1, 2, 3, 4};
    mw_column column = {};
    column.name = "x", column.dtype = MW_F32, column.data = x;
    mw::dataset whole = mw::dataset::create(&column, 1, 4, true), other;
    {
        mw_dataset *made = whole.get();
        *static_cast<mw_dataset **>(mw::out(other)) = made; // as a call that gives an object
        other.release();
    }
    return check(!other || other.get() == whole.get(), "out") && check(whole.examples() == 4, "a query");
}

int main()
{
    bool (*const tests[])() = {test_objects_are_destroyed_once,          test_errors_are_thrown,
                               test_nothing_leaks_by_an_exception,       test_operators_and_lists_are_those_of_c,
                               test_a_network_is_trained_written_and_read, test_objects_that_c_leaves_somewhere};
    for (bool (*test)() : tests) {
        try {
            (test() ? passed : failed)++;
        } catch (const std::exception &err) {
            std::printf("thrown: %s\n", err.what());
            failed++;
        }
    }
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
