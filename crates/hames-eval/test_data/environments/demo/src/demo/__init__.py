def double(number):
    return number + number + 1


def main():
    import dep

    print("demo", double(1), dep.VALUE)
