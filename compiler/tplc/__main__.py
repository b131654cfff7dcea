from tplc.cli import main

main()
