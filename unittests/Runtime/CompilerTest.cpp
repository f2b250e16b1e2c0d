//===- CompilerTest.cpp - C text to callable code -------------------------===//

#include "Uop/Runtime/Compiler.h"

#include "Sandbox.h"

#include "llvm/Support/Program.h"

#include <climits>
#include <cmath>
#include <cstring>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace uop::runtime;
using llvm::StringRef;

namespace {

constexpr const char *prelude = "#include <math.h>\n#include <stdbool.h>\n";

class CompilerTest : public Sandbox {
protected:
  static CompileRequest request(StringRef text, bool strict = false) {
    return {prelude + text.str(), "kernel", strict, false};
  }
  static Kernel compiled(const CompileRequest &request) {
    auto kernel = compile(request);
    if (kernel)
      return *kernel;
    ADD_FAILURE() << llvm::toString(kernel.takeError());
    return {};
  }
  static Kernel compiled(StringRef text, bool strict = false) {
    return compiled(request(text, strict));
  }
  static std::string failure(StringRef text) {
    return message(compile(request(text)));
  }
  static bool has(StringRef program) {
    return bool(llvm::sys::findProgramByName(program));
  }
  /// Runs `check` with clang in process and with each external compiler.
  void withEveryCompiler(llvm::function_ref<void()> check) {
    for (const char *cc : {"", "gcc", "clang-22"}) {
      if (*cc && !has(cc))
        continue;
      SCOPED_TRACE(*cc ? cc : "in process");
      set("CC", cc);
      check();
    }
  }
};

constexpr const char *add = R"(
void kernel(float *restrict out, const float *restrict a) {
  for (int i = 0; i < 100; i++) out[i] = a[i] + 1.0f;
})";

void expectAdds(const Kernel &kernel) {
  ASSERT_NE(kernel.address, nullptr);
  float a[100], out[100];
  for (int i = 0; i < 100; ++i)
    a[i] = i;
  kernel.as<void(float *, const float *)>()(out, a);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(out[i], i + 1.0f);
}

TEST_F(CompilerTest, CompilesThenComesFromTheCache) {
  withEveryCompiler([] {
    Kernel first = compiled(add);
    EXPECT_FALSE(first.fromCache);
    EXPECT_GT(first.milliseconds, 0);
    expectAdds(first);
    Kernel second = compiled(add);
    EXPECT_TRUE(second.fromCache);
    expectAdds(second);
    EXPECT_FALSE(compiled(add, /*strict=*/true).fromCache);
  });
}

TEST_F(CompilerTest, CodeLivesAsLongAsItsLastHandle) {
  withEveryCompiler([] {
    Kernel copy;
    {
      Kernel kernel = compiled(add);
      copy = kernel;
    }
    expectAdds(copy);
    for (int i = 0; i < 100; ++i)
      expectAdds(compiled(add));
    expectAdds(copy);
  });
}

TEST_F(CompilerTest, EverythingThatDecidesTheCodeIsInTheKey) {
  EXPECT_FALSE(compiled(add).fromCache);
  set("CFLAGS", "-O1");
  EXPECT_FALSE(compiled(add).fromCache);
  set("CFLAGS", "-O1   -g0");
  EXPECT_FALSE(compiled(add).fromCache);
  set("CFLAGS", "  -O1\t-g0 ");
  EXPECT_TRUE(compiled(add).fromCache);
  set("CFLAGS", " ");
  EXPECT_TRUE(compiled(add).fromCache);
  EXPECT_FALSE(compiled(std::string(add) + "\n").fromCache);
  // A compiler that was replaced by another version.
  std::string script = write("cc.sh", "#!/bin/sh\nexec clang-22 \"$@\"\n");
  ASSERT_EQ(chmod(script.c_str(), 0700), 0);
  if (!has("clang-22"))
    return;
  set("CC", script.c_str());
  EXPECT_FALSE(compiled(add).fromCache);
  EXPECT_TRUE(compiled(add).fromCache);
  write("cc.sh", "#!/bin/sh\n# newer\nexec clang-22 \"$@\"\n");
  EXPECT_FALSE(compiled(add).fromCache);
  set("CC", (script + " -DX").c_str());
  EXPECT_FALSE(compiled(add).fromCache);
}

TEST_F(CompilerTest, CallsLibm) {
  withEveryCompiler([] {
    auto kernel = compiled(R"(
void kernel(float *out, float x) {
  out[0] = exp2f(x); out[1] = log2f(x); out[2] = sqrtf(x); out[3] = sinf(x);
  out[4] = INFINITY; out[5] = NAN; out[6] = exp2f(0.3f); out[7] = sinf(0.7f);
  bool yes = true; out[8] = yes ? log2f(3.0f) : 0.0f;
})");
    ASSERT_NE(kernel.address, nullptr);
    float out[9];
    kernel.as<void(float *, float)>()(out, 1.7f);
    volatile float third = 0.3f, seventh = 0.7f, three = 3.0f;
    EXPECT_EQ(out[0], std::exp2(1.7f));
    EXPECT_EQ(out[1], std::log2(1.7f));
    EXPECT_EQ(out[2], std::sqrt(1.7f));
    EXPECT_EQ(out[3], std::sin(1.7f));
    EXPECT_TRUE(std::isinf(out[4]));
    EXPECT_TRUE(std::isnan(out[5]));
    EXPECT_EQ(out[6], std::exp2(third));
    EXPECT_EQ(out[7], std::sin(seventh));
    EXPECT_EQ(out[8], std::log2(three));
  });
}

TEST_F(CompilerTest, IntegersWrapWhateverCFLAGSSay) {
  auto check = [] {
    auto kernel = compiled("int kernel(int a) { return a + 1 < a; }");
    ASSERT_NE(kernel.address, nullptr);
    EXPECT_EQ(kernel.as<int(int)>()(INT_MAX), 1);
  };
  for (const char *flags :
       {"", "-O3", "-O2 -fstrict-overflow", "-O1 -ftrapv", "-O2 -fno-wrapv"}) {
    SCOPED_TRACE(flags);
    set("CFLAGS", flags);
    withEveryCompiler(check);
  }
}

/// Division that is total: by zero it gives 0, and it wraps.
TEST_F(CompilerTest, DivisionHelpersDoNotTrap) {
  constexpr const char *text = R"(
static inline int floordiv_i32(int a, int b) {
  if (b == 0) return 0;
  if (b == -1) return 0 - a;
  int q = a / b;
  return (q * b != a && ((a < 0) != (b < 0))) ? q - 1 : q;
}
static inline int floormod_i32(int a, int b) {
  if (b == 0 || b == -1) return 0;
  int r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}
void kernel(int *restrict q, int *restrict r, const int *restrict a,
            const int *restrict b, int n) {
  for (int i = 0; i < n; i++) {
    q[i] = floordiv_i32(a[i], b[i]);
    r[i] = floormod_i32(a[i], b[i]);
  }
})";
  std::vector<int> a, b;
  for (int x : {INT_MIN, INT_MIN + 1, -7, -1, 0, 1, 7, INT_MAX})
    for (int y : {INT_MIN, -3, -1, 0, 1, 3, INT_MAX}) {
      a.push_back(x);
      b.push_back(y);
    }
  withEveryCompiler([&] {
    Kernel kernel = compiled(text);
    ASSERT_NE(kernel.address, nullptr);
    std::vector<int> q(a.size()), r(a.size());
    kernel.as<void(int *, int *, const int *, const int *, int)>()(
        q.data(), r.data(), a.data(), b.data(), a.size());
    for (size_t i = 0; i < a.size(); ++i) {
      long long x = a[i], y = b[i];
      long long floor = y ? x / y - (x % y && (x < 0) != (y < 0)) : 0;
      EXPECT_EQ(q[i], int(unsigned(floor))) << x << " // " << y;
      EXPECT_EQ(r[i], y ? int(x - floor * y) : 0) << x << " % " << y;
    }
  });
}

TEST_F(CompilerTest, HalfPrecisionRoundsAtEveryStep) {
  // 2048 + 1 rounds to 2048 in f16, so that a second 1 is lost as well; with
  // excess precision the sum is 2050.
  constexpr const char *text = R"(
void kernel(_Float16 *out, _Float16 a, _Float16 b) {
  out[0] = a + b + b - a;
  out[1] = (_Float16)(a * (_Float16)40.0f) / (_Float16)40.0f;
})";
  for (const char *flags :
       {"", "-O0 -march=x86-64", "-O2 -march=x86-64", "-O2 -march=haswell",
        "-O2 -march=native", "-O2 -Xclang -ffloat16-excess-precision=fast"}) {
    SCOPED_TRACE(flags);
    set("CFLAGS", flags);
    withEveryCompiler([&] {
      if (*std::getenv("CC") == 'g' && StringRef(flags).contains("-Xclang"))
        return;
      Kernel kernel = compiled(request(text, /*strict=*/true));
      ASSERT_NE(kernel.address, nullptr);
      _Float16 out[2];
      kernel.as<void(_Float16 *, _Float16, _Float16)>()(out, _Float16(2048.0f),
                                                        _Float16(1.0f));
      EXPECT_EQ(float(out[0]), 0.0f);
      EXPECT_TRUE(std::isinf(float(out[1])));
    });
  }
}

TEST_F(CompilerTest, StrictKeepsOrderRoundingAndSigns) {
  constexpr const char *text = R"(
void kernel(float *restrict out, const float *restrict a, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum = sum + a[i];
  out[0] = sum;
  out[1] = a[0] * a[1] + a[2];
  out[2] = a[3] + 0.0f;
})";
  std::vector<float> a(1000);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = 1.0f / float(i + 3) * (i % 3 ? 1e4f : -1.0f);
  a[0] = 1.0f + 1.0f / 4096;
  a[1] = 1.0f + 1.0f / 8192;
  a[2] = -1.0f;
  a[3] = -0.0f;
  volatile float sum = 0.0f, product = a[0] * a[1];
  for (float value : a)
    sum = sum + value;
  for (const char *flags : {"", "-O3 -march=native -ffast-math", "-Ofast"}) {
    SCOPED_TRACE(flags);
    set("CFLAGS", flags);
    withEveryCompiler([&] {
      Kernel kernel = compiled(text, /*strict=*/true);
      ASSERT_NE(kernel.address, nullptr);
      float out[3];
      kernel.as<void(float *, const float *, int)>()(out, a.data(), a.size());
      EXPECT_EQ(out[0], sum);
      EXPECT_EQ(out[1], product + a[2]);
      EXPECT_FALSE(std::signbit(out[2]));
      // Loading a library must not make this thread flush denormals.
      volatile float tiny = 1e-38f;
      EXPECT_NE(tiny / 8, 0.0f);
    });
  }
}

TEST_F(CompilerTest, ThreadsRun) {
  CompileRequest threads = request(R"(
int omp_get_max_threads(void);
int kernel(float *restrict out, const float *restrict a) {
#pragma omp parallel for
  for (int i = 0; i < 100000; i++) out[i] = a[i] + 1.0f;
  return omp_get_max_threads();
})");
  threads.usesThreads = true;
  withEveryCompiler([&] {
    for (int round = 0; round < 2; ++round) {
      Kernel kernel = compiled(threads);
      ASSERT_NE(kernel.address, nullptr);
      std::vector<float> a(100000, 2.0f), out(100000);
      EXPECT_GE(kernel.as<int(float *, const float *)>()(out.data(), a.data()),
                1);
      EXPECT_EQ(out, std::vector<float>(100000, 3.0f));
    }
  });
}

TEST_F(CompilerTest, ShowsTheCompilersMessage) {
  withEveryCompiler([] {
    expectContains(failure("void kernel(void) { nonsense = 1; }"), "nonsense");
    expectContains(failure("void kernel(void) {"), "error:");
    expectContains(failure("#error \"100%s%n\""), "100%s%n");
    expectContains(failure("void other(void) {}"),
                   "the text defines no function 'kernel'");
    EXPECT_NE(failure(StringRef("\0\xff\x80 void", 8)), "");
  });
  set("CC", nullptr);
  expectContains(failure("\nvoid kernel(void) { nonsense = 1; }"),
                 "kernel.c:4:21: error: use of undeclared identifier");
  expectContains(failure("int missing(void); int kernel(void) { return "
                         "missing(); }"),
                 "missing");
  // Nothing that failed was stored, and the next kernel is none the worse.
  expectAdds(compiled(add));
}

TEST_F(CompilerTest, RefusesSenselessFlags) {
  auto withFlags = [&](const char *flags) {
    set("CFLAGS", flags);
    return failure(add);
  };
  expectContains(withFlags("-fbogus"), "unknown argument: '-fbogus'");
  expectContains(withFlags("-march=nope"), "unknown target CPU 'nope'");
  expectContains(withFlags("nosuch.c"), "nosuch.c");
  expectContains(withFlags("-include nosuch.h"), "nosuch.h");
  for (const char *flags : {"-E", "-S", "-flto", "-emit-llvm", "-M",
                            "-fsyntax-only", "-save-temps"})
    expectContains(withFlags(flags), "other than one object file");
  expectContains(withFlags("-m32"), "can't run here");
  expectContains(withFlags("--target=aarch64-linux-gnu"), "can't run here");
  expectContains(withFlags("-mllvm -x"), "set CC");
  expectContains(withFlags("-fplugin=x.so"), "set CC");
  for (const char *flags :
       {"-O0", "-O3 -march=native", "-g -MD -ftime-report", "-o x -c",
        "-fvisibility=hidden", "-Werror -Weverything", "-fPIE", "-std=c99"})
    EXPECT_EQ(withFlags(flags), "") << flags;
  set("CC", "clang-22");
  if (has("clang-22"))
    expectContains(withFlags("-fbogus"), "unknown argument: '-fbogus'");
  set("CC", "gcc");
  if (has("gcc"))
    expectContains(withFlags("-fbogus"), "-fbogus");
}

TEST_F(CompilerTest, ACompilerThatIsMissingOrFailsOrDies) {
  set("CC", "nosuch-cc -x");
  expectContains(failure(add), "C compiler 'nosuch-cc' (from CC) not found");
  set("CC", "/dev/null");
  expectContains(failure(add), "/dev/null");
  set("CC", "true");
  expectContains(failure(add), "'true' left no shared object");
  set("CC", "false");
  expectContains(failure(add), "'false' failed with status 1");
  auto script = [&](StringRef text) {
    std::string file = write("cc.sh", ("#!/bin/sh\n" + text + "\n").str());
    EXPECT_EQ(chmod(file.c_str(), 0700), 0);
    set("CC", file.c_str());
  };
  script("echo out of luck >&2; exit 3");
  expectContains(failure(add), "failed with status 3:\nout of luck");
  script("kill -9 $$");
  expectContains(failure(add), "died");
  script("while [ $# -gt 0 ]; do [ \"$1\" = -o ] && echo junk >\"$2\"; "
         "shift; done; exit 0");
  expectContains(failure(add), "left no shared object");
  EXPECT_EQ(list(path("cache")).size(), 0u);
}

TEST_F(CompilerTest, DamagedEntriesAreRebuilt) {
  withEveryCompiler([&] {
    (void)llvm::sys::fs::remove_directories(path("cache"));
    compiled(add);
    ASSERT_EQ(list(path("cache")).size(), 1u);
    std::string entry = list(path("cache"))[0], whole = read(entry);
    std::string name = StringRef(entry).rsplit('/').second.str();
    std::string flipped = whole;
    flipped[whole.size() / 2] ^= 0x10;
    for (const std::string &bytes : {std::string(), whole.substr(0, 100),
                                     whole.substr(0, whole.size() - 1), flipped,
                                     whole + "x", std::string(5000, '\xcc'),
                                     std::string("\x7f"
                                                 "ELF")}) {
      // As a new file: code of the old one may be mapped.
      ASSERT_FALSE(llvm::sys::fs::remove(entry));
      write("cache/" + name, bytes);
      Kernel kernel = compiled(add);
      EXPECT_FALSE(kernel.fromCache);
      expectAdds(kernel);
      EXPECT_TRUE(compiled(add).fromCache);
    }
  });
}

TEST_F(CompilerTest, AnUnusableCacheIsAnError) {
  std::string file = write("file", "x");
  set("UOPC_CACHE", file.c_str());
  expectContains(failure(add), "kernel cache folder '" + file + "'");
  set("UOPC_CACHE", (file + "/sub").c_str());
  expectContains(failure(add), "kernel cache folder '" + file + "/sub'");
}

TEST_F(CompilerTest, ManyProcessesShareACache) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int text = 0; text < 3; ++text) {
        auto kernel = compile(request("int kernel(void) { return " +
                                      std::to_string(text) + "; }"));
        if (!kernel) {
          llvm::errs() << llvm::toString(kernel.takeError()) << "\n";
          _exit(1);
        }
        if (kernel->as<int()>()() != text)
          _exit(2);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(list(path("cache")).size(), 3u);
}

TEST_F(CompilerTest, ManyThreadsCompileAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([i] {
      for (int text = 0; text < 4; ++text) {
        // Some of them compiled in child processes.
        std::string padding(i == 0 ? 300000 : 0, ' ');
        Kernel kernel = compiled("int kernel(void) { return " +
                                 std::to_string(text) + "; }" + padding);
        ASSERT_NE(kernel.address, nullptr);
        EXPECT_EQ(kernel.as<int()>()(), text);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(CompilerTest, LargeTextIsCompiledInAChild) {
  std::string text = "void kernel(int *a) {\n";
  for (int i = 0; i < 3000; ++i)
    text += "  a[" + std::to_string(i % 7) + "] += a[" + std::to_string(i % 5) +
            "];\n";
  text += std::string(300000, ' ');
  set("CFLAGS", "-O1");
  Kernel kernel = compiled(text + "}\n");
  ASSERT_NE(kernel.address, nullptr);
  int a[7] = {1, 2, 3, 4, 5, 6, 7}, b[7] = {1, 2, 3, 4, 5, 6, 7};
  for (int i = 0; i < 3000; ++i)
    b[i % 7] = unsigned(b[i % 7]) + unsigned(b[i % 5]);
  kernel.as<void(int *)>()(a);
  EXPECT_EQ(std::memcmp(a, b, sizeof(a)), 0);
  EXPECT_TRUE(compiled(text + "}\n").fromCache);
  expectContains(failure(text + "nonsense = 1; }"),
                 "undeclared identifier 'nonsense'");
}

TEST_F(CompilerTest, OutlivesTheDeathOfItsCompiler) {
  // Nested deeper than any stack reaches.
  std::string text = "int kernel(int a) { return ";
  for (int i = 0; i < 2000000; ++i)
    text += "-~";
  expectContains(failure(text + "a; }"), "C compiler died (signal ");
  expectAdds(compiled(add));
}

TEST_F(CompilerTest, DeepTextBelowTheLimitOfAChild) {
  std::string text = "int kernel(int a) { return ";
  for (int i = 0; i < 5000; ++i)
    text += "-~";
  set("CFLAGS", "-O1");
  Kernel kernel = compiled(text + "a; }");
  ASSERT_NE(kernel.address, nullptr);
  EXPECT_EQ(kernel.as<int(int)>()(1), 5001);
}

} // namespace
